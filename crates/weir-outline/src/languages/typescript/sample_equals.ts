const settings = { retries: 3 };
export = {
  settings,
  text: "a value that is much longer than anything that one would want to read in an outline",
};
