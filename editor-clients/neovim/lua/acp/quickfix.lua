---The changed files, and all hunks of them, as quickfix lists that are kept up to date.
local changes = require('acp.changes')
local drawing = require('acp.drawing')
local tell = require('acp.tell')
local texts = require('acp.texts')

local M = {}

---@class acp.Item What an entry of a list stands for.
---@field uri string
---@field session? string
---@field id? string Of a hunk.

---@class acp.QuickfixList
---@field title string
---@field items fun(): table[]
---@field id? integer

---Bytes of a changed line that are shown.
local MAX_TEXT = 120

---@param file acp.ChangedFile
---@return table
local function file_item(file)
  local first = file.hunks[1]
  local statuses = vim.tbl_map(function(entry)
    return entry.change.status
  end, file.entries)
  local text = statuses[1]
  if #file.hunks > 0 then
    text = ('%s, %d %s'):format(text, #file.hunks, #file.hunks == 1 and 'place' or 'places')
  end
  for _, entry in ipairs(file.entries) do
    if entry.change.problem then
      text = ('%s: %s'):format(text, entry.change.problem)
    end
  end
  return {
    filename = file.name,
    lnum = first and first.first + 1 or 1,
    col = 1,
    text = text,
    user_data = { uri = file.uri },
  }
end

---As git writes it: a letter an entry.
local TYPES = { added = 'A', changed = 'M', removed = 'D', conflict = 'C', proposed = 'P' }
local STATUS_TYPES = { created = 'A', deleted = 'D', renamed = 'R' }

---@param hunk acp.Hunk
---@return string
local function description(hunk)
  local known = texts.get(hunk)
  local line = known and vim.iter({ known.new, known.old }):flatten():find(function(candidate)
    return candidate:find('%S') ~= nil
  end)
  local parts = {}
  local is_lines = hunk.before.lines + hunk.after.lines > 0
  if not is_lines or hunk.status == 'created' or hunk.status == 'deleted' then
    local file = changes.of(hunk.name)
    parts[1] = file and changes.note(file)
  end
  parts[#parts + 1] = is_lines and changes.counts(hunk) or nil
  if hunk.conflict then
    parts[#parts + 1] = 'conflict: you changed it too'
  end
  if hunk.proposed then
    parts[#parts + 1] = hunk.agent .. ' would like to write'
  end
  parts[#parts + 1] = line and vim.trim(texts.shown(line:sub(1, MAX_TEXT))) or nil
  return table.concat(parts, '  ')
end

---@param file acp.ChangedFile
---@param one acp.HunkHere
---@return table
local function hunk_item(file, one)
  local hunk = one.hunk
  return {
    filename = file.name,
    lnum = one.row + 1,
    end_lnum = hunk.count > 1 and one.last + 1 or 0,
    type = not hunk.conflict and not hunk.proposed and STATUS_TYPES[hunk.status]
      or TYPES[hunk.kind],
    text = description(hunk),
    user_data = { uri = file.uri, session = hunk.session, id = hunk.id },
  }
end

---@param file acp.ChangedFile
---@param buf? integer
---@return acp.HunkHere[]
local function placed(file, buf)
  local here = buf and drawing.hunks(buf) or {}
  if #here == #file.hunks then
    return here
  end
  return vim.tbl_map(function(hunk)
    local last = hunk.first + math.max(hunk.count - 1, 0)
    return { hunk = hunk, first = hunk.first, last = last, row = hunk.first }
  end, file.hunks)
end

---@type table<'files'|'hunks', acp.QuickfixList>
local lists = {
  files = {
    title = 'acp: changed files',
    items = function()
      return vim.tbl_map(file_item, changes.files())
    end,
  },
  hunks = {
    title = 'acp: changes',
    items = function()
      local items, buffers = {}, drawing.buffers()
      for _, file in ipairs(changes.files()) do
        for _, one in ipairs(placed(file, buffers[file.name])) do
          items[#items + 1] = hunk_item(file, one)
        end
      end
      return items
    end,
  },
}

---@param list acp.QuickfixList
---@return boolean
local function is_kept(list)
  return list.id ~= nil and vim.fn.getqflist({ id = list.id }).id == list.id
end

---@param list acp.QuickfixList
local function fill(list)
  local what = { title = list.title, items = list.items() }
  if not is_kept(list) then
    vim.fn.setqflist({}, ' ', what)
    list.id = vim.fn.getqflist({ id = 0 }).id
    return
  end
  what.id = list.id
  local old = vim.fn.getqflist({ id = list.id, idx = 0, items = 0 })
  local selected = old.items[old.idx]
  vim.fn.setqflist({}, 'r', what)
  -- The same entry, else the one that took its place.
  local index = math.min(old.idx, #what.items)
  for number, item in ipairs(what.items) do
    local of = selected and selected.user_data
    if type(of) == 'table' and item.user_data.uri == of.uri and item.user_data.id == of.id then
      index = number
    end
  end
  if index > 0 then
    vim.fn.setqflist({}, 'a', { id = list.id, idx = index })
  end
end

local due = false

---Once for however many news there are: a list may be long.
local function fill_soon()
  if due then
    return
  end
  due = true
  vim.defer_fn(function()
    due = false
    for _, list in pairs(lists) do
      if is_kept(list) then
        fill(list)
      end
    end
  end, 50)
end

---Asks for the lines of what is listed, where they are not known yet.
local function want_texts()
  for _, file in ipairs(changes.files()) do
    texts.want(file, fill_soon)
  end
end

---Whether a list is one that somebody may be looking at.
---@param list acp.QuickfixList
---@return boolean
local function is_open(list)
  return is_kept(list) and vim.fn.getqflist({ winid = 0 }).winid ~= 0
end

---Brings the lists along.
function M.refresh()
  fill_soon()
  if is_open(lists.hunks) then
    want_texts()
  end
end

---Lists the changed files, or all hunks, in the quickfix window.
---@param kind 'files'|'hunks'
function M.open(kind)
  if #changes.files() == 0 then
    tell.info('nothing waits for review')
    return
  end
  local list = lists[kind]
  fill(list)
  local number = vim.fn.getqflist({ id = list.id, nr = 0 }).nr
  vim.cmd(('silent %dchistory'):format(number))
  vim.cmd('botright copen')
  if kind == 'hunks' then
    want_texts()
  end
end

---Whether the cursor is in one of our lists.
---@return boolean
function M.is_here()
  if vim.bo.buftype ~= 'quickfix' then
    return false
  end
  local id = vim.fn.getqflist({ id = 0 }).id
  return id == lists.files.id or id == lists.hunks.id
end

---What the entries on some lines of the list stand for.
---@param first integer 1-based
---@param last integer
---@return acp.Item[]
function M.items(first, last)
  if not M.is_here() then
    return {}
  end
  local found = {}
  for _, item in ipairs(vim.list_slice(vim.fn.getqflist(), first, last)) do
    if type(item.user_data) == 'table' then
      found[#found + 1] = item.user_data
    end
  end
  return found
end

return M
