#!/usr/bin/env python3
"""Makes web pages. usage: web.py docs|error|timetable|status|catalogue|portal > page.html"""
import html, random, sys

out = []
p = out.append


def head(title, extra=""):
    p(f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{title}</title>')
    p('<link rel="stylesheet" href="/assets/site.3f9c.css">\n<link rel="icon" href="/favicon.svg">')
    p("<style>\n" + "\n".join(f".c{i}{{margin:{i}px;padding:{i * 2}px;color:#{i * 1111 % 4096:03x}}}" for i in range(90)) + "\n</style>")
    p(extra + "</head>")


def docs():
    """The documentation page of an invented message queue."""
    head("Configuration reference - Heron queue 2.7", '<script>window.analytics=window.analytics||[];analytics.push(["page","docs"]);(function(d){var s=d.createElement("script");s.async=1;s.src="/assets/a.js";d.head.appendChild(s)})(document);</script>\n')
    p('<body>\n<header class="c1"><a href="/" class="logo">Heron</a>\n<nav aria-label="Main"><ul>' + "".join(f'<li><a href="/{x.lower()}">{x}</a></li>' for x in ("Docs", "Blog", "Downloads", "Community", "Support")) + '</ul></nav>\n<form role="search" action="/search"><label for="q">Search the docs</label><input id="q" name="q" type="search"><button>Go</button></form></header>')
    groups = {"Broker": ["listen_address", "max_connections", "idle_timeout", "data_dir", "log_level"], "Queues": ["max_length", "message_ttl", "dead_letter", "prefetch", "priority_levels"],
              "Storage": ["segment_size", "sync_interval", "retention", "compression", "scrub_rate"], "Security": ["tls_cert", "tls_key", "min_tls", "auth_backend", "token_lifetime"],
              "Cluster": ["node_name", "peers", "election_timeout", "replicas", "witness"], "Metrics": ["metrics_port", "histogram_buckets", "labels", "push_url", "sample_rate"]}
    defaults = dict(zip([k for g in groups.values() for k in g], ["0.0.0.0:7400", "4096", "90s", "/var/lib/heron", "info", "100000", "none", "none", "32", "4", "64MiB", "200ms", "7d", "lz4", "5MiB/s", "none", "none", "1.3", "file", "12h", "hostname", "[]", "1500ms", "3", "false", "9464", "default", "{}", "none", "1.0"]))
    about = {"max_connections": "Connections beyond this number are refused with code 421. Raising it needs about 48 KiB of memory for each connection.", "sync_interval": "How often written segments are flushed. With 0 every message is flushed before it is acknowledged, which costs about nine tenths of the throughput.",
             "min_tls": "The lowest TLS version that is accepted. Versions below 1.2 were removed in Heron 2.5.", "election_timeout": "A follower that hears nothing for this long calls an election. Keep it at least ten times the round trip between nodes.", "dead_letter": "The queue that takes messages which were rejected or ran out of time. It must exist before the queue that names it.",
             "compression": "One of lz4, zstd and none. Changing it affects new segments only."}
    p('<div class="layout"><aside><nav aria-label="Chapters"><ul>' + "".join(f'<li><a href="#{g.lower()}">{g}</a><ul>' + "".join(f'<li><a href="#{k}">{k}</a></li>' for k in ks) + "</ul></li>" for g, ks in groups.items()) + "</ul></nav></aside>\n<main>\n<h1>Configuration reference</h1>")
    p('<div class="note" role="note"><strong>Changed in 2.7:</strong> <code>queue.max_age</code> was removed. Use <code>message_ttl</code> instead.</div>')
    p("<p>Heron reads <code>/etc/heron/heron.toml</code> at start, then every file in <code>/etc/heron/conf.d</code> in the order of their names. A later value replaces an earlier one. Send <kbd>SIGHUP</kbd> to read them again; settings marked <em>restart</em> are not taken over until the broker starts anew.</p>")
    for g, ks in groups.items():
        p(f'<section id="{g.lower()}"><h2>{g}</h2>\n<table><thead><tr><th>Setting</th><th>Default</th><th>Restart</th></tr></thead><tbody>')
        for i, k in enumerate(ks):
            p(f"<tr><td><code>{k}</code></td><td><code>{html.escape(defaults[k])}</code></td><td>{'yes' if i % 3 == 0 else 'no'}</td></tr>")
        p("</tbody></table>")
        for i, k in enumerate(ks):
            text = about.get(k, f"Sets the {k.replace('_', ' ')} of the {g.lower().rstrip('s')}. The value is checked at start, and a wrong one stops the broker with code 78.")
            p(f'<h3 id="{k}">{k} <a class="anchor" href="#{k}" aria-label="Link to {k}">#</a></h3>\n<p>{text}</p>')
            p(f'<pre><code class="language-toml"><span class="k">[{g.lower()}]</span>\n<span class="n">{k}</span> <span class="o">=</span> <span class="s">"{html.escape(defaults[k])}"</span>\n</code></pre>')
        p("</section>")
    p('<h2 id="environment">Environment variables</h2>\n<p>Every setting can be given as <code>HERON_SECTION_SETTING</code>, for instance <code>HERON_BROKER_LOG_LEVEL=debug</code>. The environment wins over files.</p>')
    p('</main></div>\n<footer><p>Last edited on 3 October 2026. <a href="/edit">Edit this page</a></p><p>Heron is licensed under the MPL 2.0.</p></footer>\n<script src="/assets/site.77ab.js" defer></script>\n</body>\n</html>')


def status():
    """The order desk of an invented shop: a form, tabs and a table."""
    r = random.Random(83)
    head("Orders - Back office")
    p('<body><header><h1>Back office</h1><nav aria-label="Sections">' + "".join(f'<a href="/{x.lower()}"{" aria-current=page" if x == "Orders" else ""}>{x}</a> ' for x in ("Dashboard", "Orders", "Stock", "Customers", "Reports")) + '</nav><button aria-haspopup="menu">Account of the desk</button></header><main>')
    p('<div role="alert">3 payments could not be captured. <a href="/payments/failed">Show them</a></div>')
    p('<form aria-label="Filter orders"><label>Status <select name="status"><option>All</option><option selected>Open</option><option>Shipped</option></select></label><label>From <input type="date" name="from" value="2026-10-01"></label><label>Customer <input name="customer" placeholder="Name or number"></label><label><input type="checkbox" name="late" checked> Only late orders</label><button type="submit">Apply filter</button><button type="button" disabled>Export CSV</button></form>')
    p("<h2>Open orders (180)</h2><table><caption>Sorted by age</caption><thead><tr><th>Order</th><th>Customer</th><th>Placed</th><th>Total</th><th>State</th><th>Actions</th></tr></thead><tbody>")
    for i in range(180):
        state = "payment failed" if i in (12, 77, 140) else r.choice(["waiting for stock", "picking", "packed"])
        total = 12840.5 if i == 55 else round(r.uniform(9, 320), 2)
        p(f'<tr><td><a href="/orders/{51200 + i}">#{51200 + i}</a></td><td>Customer {r.randint(100, 999)}</td><td>2026-10-{1 + i // 12:02d}</td><td>{total:.2f} EUR</td><td>{state}</td><td><button>Details</button> <button{" disabled" if state == "payment failed" else ""}>Ship</button></td></tr>')
    p('</tbody></table><nav aria-label="Pages"><a href="?page=1" aria-current="page">1</a> <a href="?page=2">2</a> <a href="?page=3">3</a></nav></main><footer>Back office 8.4.2, node bo-2</footer></body></html>')


def catalogue():
    """A product listing that its own script builds in the browser."""
    head("Tents and shelters - Larch Outdoor")
    p('<body><header><a href="/">Larch Outdoor</a><nav aria-label="Departments"></nav><form action="/basket"><label>Promo code <input name="promo"></label><button>Redeem</button></form></header><main><h1>Tents and shelters</h1><p id="count"></p><div id="filters"></div><ul id="grid"></ul></main><footer><form action="/newsletter" method="post"><label>E-mail <input type="email" name="mail" required></label><input type="hidden" name="csrf" value="demo"><button>Subscribe</button></form><p>Prices include tax. Free delivery above 80 EUR.</p></footer>')
    p("""<script>
let s = 89; const rnd = () => (s = (s * 16807) % 2147483647) / 2147483647;
const el = (tag, cls, text) => { const e = document.createElement(tag); if (cls) e.className = cls; if (text) e.textContent = text; return e; };
for (const d of ['Tents', 'Sleeping', 'Cooking', 'Packs', 'Boots', 'Sale']) { const a = el('a', 'dep', d); a.href = '/d/' + d.toLowerCase(); document.querySelector('nav').append(a); }
for (const f of ['1 person', '2 persons', '4 persons', 'Four seasons', 'Freestanding']) { const l = el('label', 'filter', f); const c = el('input'); c.type = 'checkbox'; l.prepend(c); document.querySelector('#filters').append(l); }
const a = ['Alder', 'Birch', 'Cedar', 'Fir', 'Hazel', 'Rowan', 'Willow'], b = ['Dome', 'Tunnel', 'Tarp', 'Bivouac', 'Lodge'];
for (let i = 0; i < 240; i++) {
  const li = el('li', 'card product-card'), id = 7000 + i; li.dataset.sku = 'LO-' + id;
  const link = el('a', 'title', a[i % 7] + ' ' + b[i % 5] + ' ' + (1 + i % 4) + 'P'); link.href = '/p/' + id; li.append(link);
  const img = el('img'); img.alt = link.textContent; img.src = 'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7'; li.append(img);
  const price = i === 101 ? 0 : Math.round(60 + rnd() * 540); li.append(el('span', 'price', price.toFixed(2) + ' EUR'));
  const weight = (0.4 + rnd() * 4).toFixed(2); const dl = el('dl'); dl.append(el('dt', '', 'Weight'), el('dd', '', weight + ' kg')); li.append(dl);
  if (i % 23 === 7) li.append(el('strong', 'badge sold-out', 'Sold out')); else { const btn = el('button', 'add', 'Add to basket'); li.append(btn); }
  if (i === 64) li.append(el('p', 'recall', 'Safety recall: poles may break, see notice 26-11'));
  document.querySelector('#grid').append(li);
}
document.querySelector('#count').textContent = '240 products';
</script></body></html>""")


def portal():
    """A staff portal: a course list with a dialog, a tree and a form."""
    r = random.Random(97)
    head("Courses - Training portal")
    p('<body><a href="#m">Skip to content</a><header><h1>Training portal</h1><nav aria-label="Main">' + "".join(f'<a href="/{x.lower().replace(" ", "-")}">{x}</a> ' for x in ("My courses", "Catalogue", "Certificates", "Team", "Help")) + '</nav></header><main id="m"><div role="status">Your certificate "Fire safety" ends in 9 days.</div>')
    p('<section aria-label="Search"><form><label>Topic <input name="topic" value="security"></label><fieldset><legend>Place</legend><label><input type="radio" name="place" checked> Online</label><label><input type="radio" name="place"> On site</label></fieldset><label>Seats at least <input type="number" name="seats" value="2" min="1"></label><button>Find courses</button></form></section><h2>Courses</h2>')
    topics = ["Secure coding", "Threat modelling", "Incident drills", "Data protection", "Cloud accounts", "Password managers", "Phishing"]
    for i in range(150):
        seats = 0 if i % 19 == 4 else r.randint(1, 24)
        name = f"{topics[i % 7]} {i // 7 + 1}"
        p(f'<article aria-labelledby="c{i}"><h3 id="c{i}">{name}</h3><p>{r.choice(["Half a day", "One day", "Two days"])}, starts on 2026-11-{1 + i % 28:02d}, {"fully booked" if seats == 0 else f"{seats} seats left"}.</p><ul><li>Room {r.choice(["Elm", "Oak", "Ash"])} {r.randint(1, 9)}</li><li>Language: {r.choice(["English", "German", "French"])}</li></ul><a href="/c/{i}">Syllabus of {name}</a> <button{" disabled" if seats == 0 else ""}>{"Join waiting list" if i % 38 == 4 else "Book"}</button></article>')
    p('</main><div role="dialog" aria-label="Cookie settings"><p>We keep one cookie to know your session.</p><button>Accept</button><button>More settings</button></div><footer>Questions? Call extension 4410.</footer></body></html>')


def timetable():
    """The departures of a bus company: a script fills a large table."""
    head("Departures on 2 November 2026 - Fjord Lines Bus")
    p('<body><header><h1>Departures</h1><nav aria-label="Regions"><a href="/r/north">North</a> <a href="/r/coast">Coast</a> <a href="/r/city">City</a></nav></header><div class="banner" role="alert">Line 44 does not run today because of the closed tunnel at Langnes. Use line 41.</div><main><form id="plan" action="/plan" method="get"><label>From <input name="from"></label><label>To <input name="to"></label><label>Time <input type="time" name="at" value="08:00"></label><button>Find a trip</button></form><table id="t"><thead><tr><th>Time</th><th>Line</th><th>To</th><th>Bay</th><th>Delay</th><th>Note</th></tr></thead><tbody></tbody></table></main><footer>Lost property: room B12, open 9 to 15.</footer>')
    p("""<script>
let s = 157; const rnd = (n) => Math.floor((s = (s * 16807) % 2147483647) / 2147483647 * n);
const body = document.querySelector('tbody'), places = ['Harbour', 'Airport', 'Langnes', 'Old Mill', 'University', 'Hospital', 'Stadium'];
for (let i = 0; i < 1500; i++) {
  const minutes = 5 * 60 + Math.floor(i * 0.72), line = 31 + rnd(16), tr = document.createElement('tr');
  const late = i === 866 ? 94 : rnd(30) === 0 ? 5 + rnd(20) : 0, off = line === 44;
  tr.className = 'departure line-' + line + (off ? ' cancelled' : late ? ' late' : '');
  const cells = [String(Math.floor(minutes / 60)).padStart(2, '0') + ':' + String(minutes % 60).padStart(2, '0'), line, places[rnd(7)], 'Bay ' + (1 + rnd(12)), off ? '' : late ? '+' + late + ' min' : 'on time', off ? 'cancelled' : i === 866 ? 'broken down at Old Mill, replacement sent' : ''];
  for (const [k, c] of cells.entries()) { const td = document.createElement('td'); td.className = 'cell cell-' + ['time', 'line', 'to', 'bay', 'delay', 'note'][k]; td.textContent = c; tr.append(td); }
  body.append(tr);
}
</script></body></html>""")


def error():
    """The debug page that a web framework shows for an exception, with every frame and its locals."""
    r = random.Random(131)
    head("ValueError at /booking/confirm - debug")
    p('<body>\n<div id="summary"><h1>ValueError <span>at /booking/confirm</span></h1>\n<pre class="exception_value">cabin class &#x27;Q&#x27; is not sold on sailing 20261104-N</pre>\n<table class="meta"><tr><th>Request method:</th><td>POST</td></tr><tr><th>Request URL:</th><td>http://localhost:8000/booking/confirm?step=3</td></tr><tr><th>Framework version:</th><td>Skiff 4.2.9</td></tr><tr><th>Exception location:</th><td>/srv/ferry/booking/prices.py, line 212, in lookup</td></tr><tr><th>Python version:</th><td>3.11.7</td></tr><tr><th>Server time:</th><td>Tue, 20 Oct 2026 13:05:44 +0000</td></tr></table></div>\n<div id="traceback"><h2>Traceback</h2><ul class="traceback">')
    frames = [("skiff/server.py", "handle", 88, "answer = self.chain(request)"), ("skiff/middleware/session.py", "__call__", 41, "response = self.next(request)"), ("skiff/middleware/csrf.py", "__call__", 63, "return self.next(request)"), ("skiff/routing.py", "dispatch", 154, "return view(request, **args)"), ("booking/views.py", "confirm", 97, "offer = build_offer(basket, sailing)"), ("booking/offers.py", "build_offer", 55, "lines = [price_line(x, sailing) for x in basket.lines]"), ("booking/offers.py", "price_line", 31, "unit = prices.lookup(sailing, line.cabin)"), ("booking/prices.py", "lookup", 212, 'raise ValueError(f"cabin class {cabin!r} is not sold on sailing {sailing.code}")')]
    for n, (file, fn, line, code) in enumerate(frames):
        p(f'<li class="frame {"user" if file.startswith("booking") else "framework"}"><code>/srv/ferry/{file}</code>, line {line}, in {fn}\n<div class="context" id="c{n}"><ol start="{line - 5}" class="pre-context">' + "".join(f'<li onclick="toggle(&#x27;c{n}&#x27;)"><pre>    # step {i} of {fn}: {r.choice(["check the input", "open the connection", "copy the headers", "look for a cached value"])}</pre></li>' for i in range(5)) + f'</ol><ol start="{line}" class="context-line"><li><pre>    {html.escape(code)}</pre> <span>...</span></li></ol></div>')
        p('<details><summary>Local vars</summary><table class="vars"><thead><tr><th>Variable</th><th>Value</th></tr></thead><tbody>')
        for v in range(14):
            p(f'<tr><td>{r.choice(["request", "basket", "sailing", "line", "user", "cache", "token", "args", "self", "result"])}_{v}</td><td class="code"><pre>&lt;{r.choice(["Basket", "Sailing", "Request", "Cabin", "dict"])} object with {r.randint(1, 40)} entries, key &#x27;{r.choice(["north", "south", "night"])}-{r.randint(100, 999)}&#x27;&gt;</pre></td></tr>')
        if fn == "price_line":
            p("<tr><td>line</td><td class=\"code\"><pre>&lt;BasketLine passengers=2 cabin=&#x27;Q&#x27; car=True&gt;</pre></td></tr>")
        p("</tbody></table></details></li>")
    p('</ul></div>\n<div id="requestinfo"><h2>Request information</h2><h3>POST</h3><table>' + "".join(f"<tr><td>{k}</td><td><pre>&#x27;{v}&#x27;</pre></td></tr>" for k, v in (("sailing", "20261104-N"), ("cabin", "Q"), ("passengers", "2"), ("csrf", "********************"))) + "</table><h3>COOKIES</h3><p>No cookie data</p><h3>Settings</h3><table>")
    for i in range(160):
        p(f'<tr><td>{r.choice(["CACHE", "MAIL", "DB", "LOG", "STATIC", "SESSION"])}_{r.choice(["TIMEOUT", "HOST", "PATH", "LEVEL", "PREFIX"])}_{i}</td><td class="code"><pre>{r.choice(["True", "False", "None", "30", "&#x27;ferry&#x27;", "********************"])}</pre></td></tr>')
    p('</table></div>\n<div id="explanation"><p>You see this page because <code>DEBUG = True</code> is set. Turn it off and a plain page with code 500 is shown.</p></div></body></html>')


{"docs": docs, "error": error, "timetable": timetable, "status": status, "catalogue": catalogue, "portal": portal}[sys.argv[1]]()
print("\n".join(out))
