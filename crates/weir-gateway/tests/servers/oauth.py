#!/usr/bin/env python3
"""An MCP server over Streamable HTTP that asks for a sign-in with OAuth, and the provider that it trusts. Only for tests.

It needs Python 3.8 or newer and nothing else. It prints its address, and ends with its standard input. Everybody who
comes to `/authorize` is somebody who agrees; with --refuse, nobody does. An access token lives
for --expires-in seconds, and a refresh token renews it once. `/log` says what was asked for; `/revoke` ends all tokens.
"""

import argparse
import base64
import hashlib
import json
import secrets
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

TOOLS = [
    {
        "name": "whoami",
        "description": "Says who is signed in.",
        "inputSchema": {"type": "object", "properties": {}},
        "annotations": {"readOnlyHint": True},
    }
]


class State:
    def __init__(self, expires_in, refuses, insecure):
        self.lock = threading.Lock()
        self.expires_in, self.refuses, self.insecure = expires_in, refuses, insecure
        self.clients, self.codes, self.access, self.refresh, self.log = {}, {}, set(), set(), []

    def tokens(self):
        access, refresh = secrets.token_hex(16), secrets.token_hex(16)
        self.access.add(access)
        self.refresh.add(refresh)
        return {
            "access_token": access,
            "refresh_token": refresh,
            "token_type": "Bearer",
            "expires_in": self.expires_in,
        }


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    @property
    def state(self):
        return self.server.state

    @property
    def base(self):
        return f"http://127.0.0.1:{self.server.server_port}"

    def send(self, status, body=b"", headers=()):
        body = json.dumps(body).encode() if isinstance(body, (dict, list)) else body
        self.send_response(status)
        for name, value in (("Content-Type", "application/json"), *headers):
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def body(self):
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def do_GET(self):
        path, query = urlsplit(self.path).path, parse_qs(urlsplit(self.path).query)
        if path.startswith("/.well-known/oauth-protected-resource"):
            self.send(200, {"resource": f"{self.base}/mcp", "authorization_servers": [self.base]})
        elif path == "/.well-known/oauth-authorization-server":
            sign_in = "http://sign-in.example" if self.state.insecure else self.base
            self.send(
                200,
                {
                    "issuer": self.base,
                    "authorization_endpoint": f"{sign_in}/authorize",
                    "token_endpoint": f"{self.base}/token",
                    "registration_endpoint": f"{self.base}/register",
                    "response_types_supported": ["code"],
                    "grant_types_supported": ["authorization_code", "refresh_token"],
                    "code_challenge_methods_supported": ["S256"],
                    "token_endpoint_auth_methods_supported": ["none"],
                },
            )
        elif path == "/authorize":
            self.authorize({name: values[0] for name, values in query.items()})
        elif path == "/log":
            self.send(200, self.state.log)
        elif path == "/revoke":
            with self.state.lock:
                self.state.access.clear()
                self.state.refresh.clear()
            self.send(200, {})
        else:
            self.send(405 if path == "/mcp" else 404)

    def authorize(self, query):
        with self.state.lock:
            redirects = self.state.clients.get(query["client_id"], [])
            if query["redirect_uri"] not in redirects or query["code_challenge_method"] != "S256":
                return self.send(400, {"error": "invalid_request"})
            if self.state.refuses:
                answer = {"error": "access_denied", "error_description": "the user\u202e said no"}
            else:
                code = secrets.token_hex(8)
                self.state.codes[code] = (query["client_id"], query["redirect_uri"], query["code_challenge"])
                answer = {"code": code}
        answer = urlencode({**answer, "state": query["state"]})
        self.send(302, headers=[("Location", f"{query['redirect_uri']}?{answer}")])

    def do_POST(self):
        path, body = urlsplit(self.path).path, self.body()
        if path == "/register":
            asked = json.loads(body)
            client = secrets.token_hex(4)
            with self.state.lock:
                self.state.clients[client] = asked["redirect_uris"]
                self.state.log.append(f"register {asked.get('client_name')}")
            self.send(201, {**asked, "client_id": client})
        elif path == "/token":
            self.token({name: values[0] for name, values in parse_qs(body.decode()).items()})
        elif path == "/mcp":
            self.message(json.loads(body))
        else:
            self.send(404)

    def token(self, asked):
        with self.state.lock:
            self.state.log.append(f"token {asked['grant_type']} for {asked.get('resource')}")
            if asked["grant_type"] == "authorization_code":
                client, redirect, challenge = self.state.codes.pop(asked["code"], (None, None, None))
                proof = hashlib.sha256(asked["code_verifier"].encode()).digest()
                proof = base64.urlsafe_b64encode(proof).rstrip(b"=").decode()
                is_good = client is not None and (asked["redirect_uri"], proof) == (redirect, challenge)
            else:
                is_good = asked["refresh_token"] in self.state.refresh
                self.state.refresh.discard(asked["refresh_token"])
            answer = self.state.tokens() if is_good else {"error": "invalid_grant"}
        self.send(200 if is_good else 400, answer)

    def message(self, message):
        token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        if token not in self.state.access:
            where = f'{self.base}/.well-known/oauth-protected-resource/mcp'
            return self.send(401, {}, [("WWW-Authenticate", f'Bearer resource_metadata="{where}"')])
        if "id" not in message:
            return self.send(202)
        result = {
            "initialize": lambda: {
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "oauth", "version": "1"},
            },
            "tools/list": lambda: {"tools": TOOLS},
            "tools/call": lambda: {"content": [{"type": "text", "text": "somebody who has signed in"}]},
        }.get(message["method"])
        if result is None:
            answer = {"error": {"code": -32601, "message": "no such method"}}
        else:
            answer = {"result": result()}
        self.send(200, {"jsonrpc": "2.0", "id": message["id"], **answer})


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--expires-in", type=int, default=3600)
    parser.add_argument("--refuse", action="store_true", help="refuse every sign-in")
    parser.add_argument("--insecure", action="store_true", help="name an address without TLS to sign in at")
    arguments = parser.parse_args()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.state = State(arguments.expires_in, arguments.refuse, arguments.insecure)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    sys.stdin.read()


main()
