---Changed files: a list to go through, keep and revert, side-by-side comparison.
local client = require('acp.client')
local event = require('acp.event')
local session = require('acp.session')
local tell = require('acp.tell')

local M = {}

local TITLE = 'acp: changed files'

---@type integer? The id of our quickfix list.
local list

---@param change table
---@return table
local function entry(change)
  local hunks = change.hunks or {}
  local first = hunks[1] and hunks[1].after or { start = 0 }
  local text = change.status
  if #hunks > 0 then
    text = ('%s, %d %s'):format(text, #hunks, #hunks == 1 and 'place' or 'places')
  end
  return {
    filename = vim.uri_to_fname(change.uri),
    lnum = first.start + 1,
    col = 1,
    text = text,
    user_data = { uri = change.uri },
  }
end

---@param changes table[]
local function fill(changes)
  local what = { title = TITLE, items = vim.tbl_map(entry, changes) }
  if list and vim.fn.getqflist({ id = list }).id == list then
    what.id = list
    vim.fn.setqflist({}, 'r', what)
  else
    vim.fn.setqflist({}, ' ', what)
    list = vim.fn.getqflist({ id = 0 }).id
  end
end

---Brings the list along where it is one that is kept.
---@param of acp.Session
function M.refresh(of)
  if list and of == session.current() and vim.fn.getqflist({ id = list }).id == list then
    fill(of.changes)
  end
end

---Lists the changed files in the quickfix window.
function M.list()
  session.execute('acp.review.list', nil, function(changes)
    if #changes == 0 then
      tell.info('nothing waits for review')
      return
    end
    fill(changes)
    vim.fn.setqflist({}, 'a', { id = list, nr = 0, title = TITLE })
    vim.cmd('botright copen')
  end)
end

---The file a command is meant for: named, under the cursor in the list, or in the buffer.
---@param name? string
---@return string uri
function M.target(name)
  if name and name ~= '' then
    return vim.uri_from_fname(vim.fn.fnamemodify(name, ':p'))
  end
  if vim.bo.buftype == 'quickfix' and vim.fn.getqflist({ id = 0 }).id == list then
    local item = vim.fn.getqflist()[vim.fn.line('.')]
    if item and item.user_data then
      return item.user_data.uri
    end
  end
  return vim.uri_from_bufnr(0)
end

---@param result { kept: string[], reverted: string[], conflicts: string[], problems?: string[] }
local function report(result)
  local parts = {}
  for _, name in ipairs({ 'kept', 'reverted', 'conflicts' }) do
    local count = #(result[name] or {})
    if count > 0 then
      parts[#parts + 1] = ('%d %s'):format(count, name)
    end
  end
  local is_whole = #(result.conflicts or {}) == 0 and #(result.problems or {}) == 0
  local say = is_whole and tell.info or tell.warn
  vim.list_extend(parts, result.problems or {})
  say(#parts > 0 and table.concat(parts, ', ') or 'nothing to do')
  event.emit('Reviewed', result)
end

---@param step 'keep'|'revert'|'undo'
---@param uri? string All files where it is left out.
function M.step(step, uri)
  session.execute('acp.review.' .. step, { uri = uri }, report)
end

---@param name string
---@param text string
---@param filetype string
---@return integer buf
local function scratch(name, text, filetype)
  local buf = vim.api.nvim_create_buf(false, true)
  local old = vim.fn.bufnr('^' .. vim.fn.fnameescape(name) .. '$')
  if old > 0 then
    vim.api.nvim_buf_delete(old, { force = true })
  end
  vim.api.nvim_buf_set_name(buf, name)
  local lines = vim.split(text, '\n', { plain = true })
  if lines[#lines] == '' and #lines > 1 then
    lines[#lines] = nil
  end
  vim.api.nvim_buf_set_lines(buf, 0, -1, true, lines)
  vim.bo[buf].bufhidden = 'wipe'
  vim.bo[buf].modifiable = false
  vim.bo[buf].filetype = filetype
  return buf
end

---Compares in a tab page of its own; without `after` with the file itself.
---@param path string
---@param before string
---@param after? string
function M.side_by_side(path, before, after)
  local filetype = vim.filetype.match({ filename = path }) or ''
  vim.cmd.tabnew()
  if after then
    vim.api.nvim_win_set_buf(0, scratch('acp-after://' .. path, after, filetype))
  else
    vim.cmd.edit(vim.fn.fnameescape(path))
  end
  vim.cmd.diffthis()
  local right = vim.api.nvim_get_current_win()
  local old = scratch('acp-before://' .. path, before, filetype)
  local left = vim.api.nvim_open_win(old, false, { win = right, split = 'left' })
  vim.api.nvim_win_call(left, function()
    vim.cmd.diffthis()
  end)
end

---Compares a changed file with what it was before the agent.
---@param uri string
function M.diff(uri)
  client.execute('acp.review.diff', { uri = uri }, function(err, texts)
    if err then
      tell.error(err)
      return
    end
    local path = vim.uri_to_fname(uri)
    local is_there = vim.uv.fs_stat(path) ~= nil
    M.side_by_side(path, texts.before or '', not is_there and (texts.after or '') or nil)
  end)
end

return M
