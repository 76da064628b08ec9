#!/usr/bin/env lua
--- Reads settings from files.
-- A setting has a name and a value.
-- @module settings

local io = require("io")

local M = {}

local cache = {}
local limit <const> = 10

--- The version.
M.version = "1.2"
M.names = { "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven" }
M._private = true

--- A reader of settings.
-- @type Reader
local Reader = {}
Reader.__index = Reader

--- Makes a reader.
-- @param path where the file is
function Reader.new(path, ...)
  return setmetatable({ path = path }, Reader)
end

-- Reads one setting.
function Reader:get(name, default)
  local function inner() end
  return self[name] or default
end

local function trim(text)
  return text:match("^%s*(.-)%s*$")
end

--- Reads a file.
function M.read(path)
  return Reader.new(path)
end

function M:write(name, value)
  self[name] = value
end

M.parse = function(text, strict)
  return {}
end

local helper = function() end

M.nested = {}
function M.nested.deep(value)
  return value
end

function M._internal()
end

function global_function(a, b)
  return a + b
end

Global = 5

M.Reader = Reader

return M
