// Passes HTTP requests on to a server and adds a bearer token, for test programs that cannot send one.
//
// usage: node forward.mjs URL TOKEN    prints its own URL, and serves until it is killed
import http from "node:http";

const [target, token] = [new URL(process.argv[2]), process.argv[3]];

const server = http.createServer((request, response) => {
  const headers = { ...request.headers, authorization: `Bearer ${token}` };
  // Requests that name this address mean the server. Other hosts and origins pass unchanged, so that it sees attacks.
  const own = `:${server.address().port}`;
  for (const name of ["host", "origin"]) {
    if (headers[name]?.endsWith(own)) headers[name] = headers[name].slice(0, -own.length) + `:${target.port}`;
  }
  const { hostname, port } = target;
  const passed = http.request({ hostname, port, path: request.url, method: request.method, headers }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  passed.on("error", (error) => response.writeHead(502).end(error.message));
  response.on("close", () => passed.destroy());
  request.pipe(passed);
});

server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
