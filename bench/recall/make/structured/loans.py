import random
r = random.Random(5)
branches = ['harbour', 'old-town', 'station', 'hill']
print('create table loans(loan integer primary key, branch text, title text, borrower_group text, due text, returned text, renewals int, fee real);begin;')
for i in range(1, 641):
    late = r.random() < .12
    d, m = 1 + i % 28, 1 + i % 9
    returned = 'null' if i % 37 == 0 else f"'2026-{m+1:02d}-{d:02d}'"
    fee = 0 if not late else round(r.uniform(.5, 14), 2)
    if i == 402: fee = 187.5
    branch = r.choices(branches, [6, 3, 2, 1])[0]
    title = r.randrange(1, 300)
    group = r.choice(['adult', 'youth', 'school']) if i % 3 else 'adult'
    renewals = (9 if i == 77 else 0) if i % 3 else r.randrange(3)
    print(f"insert into loans values({i+9000},'{branch}','volume {title:03d}','{group}','2026-{m:02d}-{d:02d}',{returned},{renewals},{fee});")
print('commit;')
