---Two texts side by side in a tab page of their own, with Neovim's diff mode.
local changes = require('acp.changes')
local client = require('acp.client')
local tell = require('acp.tell')

local M = {}

---@class acp.Comparison
---@field wins integer[] Left and right.
---@field uri? string Of a file whose baseline is shown, and goes along.
---@field session? string

---@type acp.Comparison[]
local open = {}
local group = vim.api.nvim_create_augroup('acp.compare', {})

---@param buf integer
---@param text string
local function write(buf, text)
  local lines = vim.split(text:gsub('\r\n', '\n'), '\n', { plain = true })
  if lines[#lines] == '' and #lines > 1 then
    lines[#lines] = nil
  end
  if vim.deep_equal(lines, vim.api.nvim_buf_get_lines(buf, 0, -1, false)) then
    return
  end
  vim.bo[buf].readonly = false
  vim.bo[buf].modifiable = true
  vim.api.nvim_buf_set_lines(buf, 0, -1, true, lines)
  vim.bo[buf].modifiable = false
  vim.bo[buf].modified = false
  vim.bo[buf].readonly = true
end

---@param name string
---@param path string
---@param text string
---@return integer buf
local function scratch(name, path, text)
  local old = vim.fn.bufnr('^' .. vim.fn.escape(name, '\\*?[{`$^~') .. '$')
  if old > 0 then
    vim.api.nvim_buf_delete(old, { force = true })
  end
  local buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(buf, name)
  vim.bo[buf].bufhidden = 'wipe'
  vim.bo[buf].undolevels = -1
  write(buf, text)
  vim.bo[buf].filetype = vim.filetype.match({ filename = path, buf = buf }) or ''
  vim.b[buf].acp_uri = vim.uri_from_fname(path)
  vim.keymap.set('n', 'q', M.close, { buffer = buf, desc = 'Close the comparison', nowait = true })
  return buf
end

---@param comparison acp.Comparison
local function close(comparison)
  for index, other in ipairs(open) do
    if other == comparison then
      table.remove(open, index)
    end
  end
  for _, win in ipairs(comparison.wins) do
    if vim.api.nvim_win_is_valid(win) then
      vim.api.nvim_win_call(win, function()
        vim.cmd.diffoff()
      end)
      vim.wo[win].winbar = nil
    end
  end
  for _, win in ipairs(comparison.wins) do
    if vim.api.nvim_win_is_valid(win) then
      -- The last window of Neovim stays.
      pcall(vim.api.nvim_win_close, win, true)
    end
  end
end

---@param win integer
---@return acp.Comparison?
local function comparison_of(win)
  return vim.iter(open):find(function(comparison)
    return vim.tbl_contains(comparison.wins, win)
  end)
end

---Closes the comparison of the current tab page.
function M.close()
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    local comparison = comparison_of(win)
    if comparison then
      close(comparison)
      return
    end
  end
end

vim.api.nvim_create_autocmd('WinClosed', {
  group = group,
  desc = 'One side of a comparison closes the other',
  callback = function(args)
    local comparison = comparison_of(tonumber(args.match) --[[@as integer]])
    if comparison then
      vim.schedule(function()
        close(comparison)
      end)
    end
  end,
})

---Compares in a tab page of its own; without `after` with the file itself.
---@param path string
---@param before string
---@param after? string
---@param titles? [string, string]
---@return fun() close
function M.open(path, before, after, titles)
  titles = titles or { 'Before the agent', 'After' }
  local came_from = vim.api.nvim_get_current_tabpage()
  vim.cmd('tab split')
  require('acp.window').reset_options(0)
  vim.w.acp = nil
  local right = vim.api.nvim_get_current_win()
  local buf = after and scratch('acp-after://' .. path, path, after) or vim.fn.bufadd(path)
  if not after then
    vim.bo[buf].buflisted = true
  end
  local shown, err = pcall(vim.api.nvim_win_set_buf, right, buf)
  if not shown then
    tell.error((tostring(err):gsub('^.-(E%d+:)', '%1')))
  end
  local old = scratch('acp-before://' .. path, path, before)
  local left = vim.api.nvim_open_win(old, false, { win = right, split = 'left' })
  require('acp.window').reset_options(left)
  for _, win in ipairs({ left, right }) do
    vim.api.nvim_win_call(win, function()
      vim.cmd.diffthis()
    end)
  end
  vim.wo[left].winbar = (' %s | q closes'):format(titles[1])
  vim.wo[right].winbar = (' %s | :tabclose leaves'):format(titles[2])
  local comparison = { wins = { left, right } }
  open[#open + 1] = comparison
  return function()
    local inside = vim.api.nvim_get_current_tabpage()
    local was_inside = vim.tbl_contains(comparison.wins, vim.api.nvim_get_current_win())
    close(comparison)
    if was_inside and inside ~= came_from and vim.api.nvim_tabpage_is_valid(came_from) then
      vim.api.nvim_set_current_tabpage(came_from)
    end
  end, comparison
end

---@param uri string
---@return boolean
local function waits(uri)
  local file = changes.of(vim.uri_to_fname(uri))
  return file ~= nil
    and vim.iter(file.hunks):any(function(hunk)
      return hunk.proposed
    end)
end

---@param uri string
---@param is_proposed boolean
---@return table
local function argument_of(uri, is_proposed)
  local file = changes.of(vim.uri_to_fname(uri))
  -- Of the session that has changed it, not of one that has only heard of it.
  local entry = file and file.entries[1]
  return {
    uri = file and file.uri or uri,
    sessionId = entry and entry.session.id or nil,
    proposed = is_proposed,
  }
end

---Compares a changed file with what it was before the agent, or with what the agent would
---like to write.
---@param uri string
function M.file(uri)
  local is_proposed = waits(uri)
  local argument = argument_of(uri, is_proposed)
  client.execute('acp.review.diff', argument, function(err, texts)
    if err then
      tell.error(err)
      return
    end
    local path = vim.uri_to_fname(uri)
    local after, titles
    if is_proposed then
      after = texts.after or ''
      titles = { 'Now', 'As the agent would like it: :Acp keep, :Acp revert' }
    elseif not vim.uv.fs_stat(path) and vim.fn.bufloaded(path) == 0 then
      after = texts.after or ''
    end
    local _, comparison = M.open(path, texts.before or '', after, titles)
    comparison.uri = not is_proposed and uri or nil
  end)
end

---Brings the baselines along that are on the screen: what was kept is part of them.
function M.refresh()
  for _, comparison in ipairs(open) do
    if comparison.uri then
      client.execute('acp.review.diff', argument_of(comparison.uri, false), function(err, texts)
        local left = comparison.wins[1]
        if not err and vim.api.nvim_win_is_valid(left) then
          write(vim.api.nvim_win_get_buf(left), texts.before or '')
          vim.cmd('silent! diffupdate')
        end
      end)
    end
  end
end

return M
