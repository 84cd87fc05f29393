---From hunk to hunk, through all changed files and round.
local changes = require('acp.changes')
local drawing = require('acp.drawing')
local scroll = require('acp.scroll')
local tell = require('acp.tell')
local window = require('acp.window')

local M = {}

---@class acp.Stop
---@field name string
---@field row integer 0-based

---The stops of a file, where they are now.
---@param file acp.ChangedFile
---@param buf? integer
---@return integer[]
local function rows_of(file, buf)
  local here = buf and drawing.hunks(buf) or {}
  local rows = vim.tbl_map(function(one)
    return one.row
  end, here)
  if #rows == 0 then
    rows = vim.tbl_map(function(hunk)
      return hunk.first
    end, file.hunks)
  end
  table.sort(rows)
  return vim.fn.uniq(rows)
end

---@return acp.Stop[]
local function stops()
  local found, buffers = {}, drawing.buffers()
  for _, file in ipairs(changes.files()) do
    if not changes.is_deleted(file) then
      for _, row in ipairs(rows_of(file, buffers[file.name])) do
        found[#found + 1] = { name = file.name, row = row }
      end
    end
  end
  return found
end

---Where to go: the number of the stop, counted round.
---@param all acp.Stop[]
---@param name string
---@param row integer
---@param direction 1|-1
---@param count integer
---@return integer index
---@return boolean wrapped
local function target(all, name, row, direction, count)
  -- How many stops lie before the next one in this direction.
  local before, inside = nil, false
  for index, stop in ipairs(all) do
    if stop.name == name then
      if not inside then
        inside = true
        before = index - 1
      end
      local is_passed = stop.row < row or (direction > 0 and stop.row == row)
      before = is_passed and index or before
    end
  end
  if not before then
    before = direction > 0 and 0 or #all
  end
  local index = direction > 0 and before + count or before + 1 - count
  return (index - 1) % #all + 1, index < 1 or index > #all
end

---@param index integer
---@param count integer
---@param wrapped boolean
local function say(index, count, wrapped)
  if not vim.o.shortmess:find('S', 1, true) then
    local text = ('acp: change %d of %d%s'):format(index, count, wrapped and ' (round)' or '')
    vim.api.nvim_echo({ { text } }, false, {})
  end
end

---@param row integer
local function put_cursor(row)
  local last = vim.api.nvim_buf_line_count(0)
  vim.api.nvim_win_set_cursor(0, { math.max(1, math.min(row + 1, last)), 0 })
  vim.cmd('normal! ^')
  if vim.fn.foldclosed('.') ~= -1 then
    vim.cmd('normal! zv')
  end
end

---Goes to a line of a file in a window of the user's; where one comes from is in the jumplist.
---@param name string
---@param row integer 0-based
---@return boolean
function M.go(name, row)
  local here = changes.of(vim.api.nvim_buf_get_name(0))
  if here and here.name == name then
    vim.cmd("normal! m'")
  else
    window.enter_users()
    vim.cmd("normal! m'")
    local buf = vim.fn.bufadd(name)
    vim.bo[buf].buflisted = true
    local shown, err = pcall(vim.api.nvim_win_set_buf, 0, buf)
    if not shown then
      tell.error((tostring(err):gsub('^.-(E%d+:)', '%1')))
      return false
    end
  end
  put_cursor(row)
  if row == 0 then
    scroll.above_first(vim.api.nvim_get_current_buf())
  end
  if row >= vim.api.nvim_buf_line_count(0) - 1 then
    scroll.below_last()
  end
  return true
end

---@param direction 1|-1
---@param count? integer
function M.jump(direction, count)
  local all = stops()
  if #all == 0 then
    tell.info('no change waits for review')
    return
  end
  local here = changes.of(vim.api.nvim_buf_get_name(0))
  local name = here and here.name or ''
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  local index, wrapped = target(all, name, row, direction, count or vim.v.count1)
  local stop = all[index]
  if vim.api.nvim_get_mode().mode ~= 'n' and stop.name ~= name then
    return -- a selection ends with its file
  end
  if M.go(stop.name, stop.row) then
    say(index, #all, wrapped)
  end
end

---Selects the lines of the hunk under the cursor: a text object.
function M.select()
  local here = drawing.at(0, vim.api.nvim_win_get_cursor(0)[1] - 1)
  if not here or here.hunk.count == 0 then
    return
  end
  if vim.api.nvim_get_mode().mode:find('^[vV\22]') then
    vim.cmd('normal! \27')
  end
  vim.api.nvim_win_set_cursor(0, { here.first + 1, 0 })
  vim.cmd('normal! V')
  vim.api.nvim_win_set_cursor(0, { here.last + 1, 0 })
end

return M
