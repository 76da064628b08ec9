"use strict";
// Helpers for numbers.
const path = require("path");

function add(a, b) { return a + b; }
function sub(a, b) { return a - b; }
function own() {}
class Big {
  plus(other) { return other; }
}

exports.zero = 0;
exports.twice = function (x) { return add(x, x); };
exports.Big = Big;
module.exports.half = (x) => x / 2;
module.exports = { add, minus: sub, inline() {}, ...require("./more") };
