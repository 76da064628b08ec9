-- Adds and takes away.
local function add(a, b)
  return a + b
end

local function hidden()
end

return {
  add = add,
  version = "1.0",
  minus = function(a, b)
    return a - b
  end,
  words = require("words"),
}
