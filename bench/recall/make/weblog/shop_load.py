"""Two sessions of visitors at once; the client's address goes into a header that nginx trusts."""
import http.client, random, sys, threading


def visit(seed, count):
    r = random.Random(seed)
    agents = ["Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/140.0", "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Safari/605.1", "curl/8.5.0", "shop-app/3.2 (android)"]
    paths = ["/", "/products", "/products/17", "/products/230", "/api/search?q=lamp", "/api/cart", "/api/login", "/api/invoices/8", "/api/items", "/static/app.js", "/admin", "/old/catalogue", "/api/v0/items"]
    weight = [14, 12, 9, 7, 9, 11, 5, 4, 10, 12, 1, 1.5, 2]
    for n in range(count):
        path, agent, ip = r.choices(paths, weight)[0], r.choices(agents, [6, 4, 1, 5])[0], f"192.0.2.{r.randint(10, 60)}"
        if seed == 1 and 900 <= n < 1050:
            path, agent, ip = r.choice(["/wp-login.php", "/.env"]), "masscan/1.3", "198.51.100.66"
        c = http.client.HTTPConnection("127.0.0.1", 8090, timeout=5)
        try:
            c.request("POST" if path in ("/api/login", "/api/cart") else "GET", path, headers={"X-Forwarded-For": ip, "User-Agent": agent, "X-N": str(n), "Referer": r.choice(["-", "https://shop.example.org/"])})
            c.getresponse().read()
        except Exception as e:
            print(e, file=sys.stderr)
        c.close()


t = [threading.Thread(target=visit, args=(s, int(sys.argv[1]))) for s in (1, 2)]
[x.start() for x in t]
[x.join() for x in t]
