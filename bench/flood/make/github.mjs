// Loaded into the GitHub server, so that it asks github.py instead of the real one.
const real = globalThis.fetch;
globalThis.fetch = (url, options) =>
  real(String(url).replace('https://api.github.com', `http://127.0.0.1:${process.env.GITHUB_PORT}`), options);
