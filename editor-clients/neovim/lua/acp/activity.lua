---Tells the sidecar when the user takes over, and keeps our own changes apart from the user's.
local client = require('acp.client')
local event = require('acp.event')
local reveal = require('acp.reveal')

local M = {}

---Milliseconds between two reports of one kind.
local INTERVAL = 200

---@type table<integer, integer> The changedtick after the last change that was not the user's.
local ticks = {}
---@type table<string, number>
local reported = {}

---@param buf integer
local function ours(buf)
  if vim.api.nvim_buf_is_valid(buf) then
    ticks[buf] = vim.api.nvim_buf_get_changedtick(buf)
  end
end

---@param buf integer
---@param kind 'edit'|'scroll'|'select'|'switch'
local function report(buf, kind)
  local now = vim.uv.now()
  if now - (reported[kind] or -INTERVAL) < INTERVAL or #require('acp.session').open() == 0 then
    return
  end
  reported[kind] = now
  local uri = vim.uri_from_bufnr(buf)
  client.notify('acp/userActivity', { uri = uri, kind = kind })
  event.emit('UserActivity', { uri = uri, kind = kind })
end

---@param buf integer
local function edited(buf)
  local running = client.get()
  if not running or not vim.lsp.buf_is_attached(buf, running.id) then
    return
  end
  if ticks[buf] ~= vim.api.nvim_buf_get_changedtick(buf) then
    ours(buf)
    report(buf, 'edit')
  end
end

local function moved()
  local kind = reveal.users_doing()
  if kind then
    report(vim.api.nvim_win_get_buf(assert(reveal.window())), kind)
  end
end

---@param group integer
function M.watch(group)
  local function on(events, callback)
    vim.api.nvim_create_autocmd(events, { group = group, callback = callback })
  end
  on({ 'TextChanged', 'TextChangedI', 'TextChangedP' }, function(args)
    edited(args.buf)
  end)
  -- The cursor moves in the current window only; another one scrolls with the mouse.
  on({ 'CursorMoved', 'CursorMovedI', 'BufEnter' }, function()
    if vim.api.nvim_get_current_win() == reveal.window() then
      moved()
    end
  end)
  on('WinScrolled', function()
    local scrolled = vim.v.event[tostring(reveal.window() or '')]
    -- A window that grows or shrinks scrolls too, and nobody meant that.
    if scrolled and scrolled.height == 0 and scrolled.width == 0 then
      moved()
    end
  end)
  on('WinClosed', function(args)
    reveal.closed(tonumber(args.match) --[[@as integer]])
  end)
  on('FileChangedShellPost', function(args)
    ours(args.buf)
    reveal.settle()
  end)
  on('BufWipeout', function(args)
    ticks[args.buf] = nil
  end)
end

---@param buf integer
---@return boolean
local function reads_by_itself(buf)
  local here = vim.bo[buf].autoread
  if here == nil then -- not set for the buffer
    return vim.go.autoread
  end
  return here
end

---@param buf integer
local function reload(buf)
  local is_empty = vim.api.nvim_buf_line_count(buf) == 1
    and vim.api.nvim_buf_get_lines(buf, 0, 1, false)[1] == ''
  if is_empty then
    -- A file that was not there when its buffer was made: :checktime would only warn.
    vim.api.nvim_buf_call(buf, function()
      vim.cmd('silent! edit')
    end)
    ours(buf)
    return
  end
  local id = not reads_by_itself(buf)
    and vim.api.nvim_create_autocmd('FileChangedShell', {
      buffer = buf,
      callback = function()
        vim.v.fcs_choice = 'reload'
      end,
    })
  vim.cmd('silent! checktime ' .. buf)
  if id then
    vim.api.nvim_del_autocmd(id)
  end
end

---Loads what the disk says now into these files' buffers, where nothing is lost by it.
---@param uris string[]
---@param unasked? boolean Also where the user has switched 'autoread' off.
function M.look_at_disk(uris, unasked)
  local names = {}
  for _, uri in ipairs(uris) do
    names[vim.uri_to_fname(uri)] = true
  end
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if
      names[vim.api.nvim_buf_get_name(buf)]
      and vim.api.nvim_buf_is_loaded(buf)
      and not vim.bo[buf].modified
      and (unasked or reads_by_itself(buf))
    then
      reload(buf)
    end
  end
end

---@param edit lsp.WorkspaceEdit
---@return string[]
local function files_of(edit)
  local uris = vim.tbl_keys(edit.changes or {})
  for _, change in ipairs(edit.documentChanges or {}) do
    if change.textDocument then
      uris[#uris + 1] = change.textDocument.uri
    end
  end
  return uris
end

---@type lsp.Handler
function M.on_apply_edit(err, params, ctx)
  local uris = files_of(params.edit)
  local before = vim.tbl_map(function(uri)
    return vim.api.nvim_buf_get_changedtick(vim.uri_to_bufnr(uri))
  end, uris)
  -- The file may hold the new text already, and a clean buffer had better take it from there:
  -- else Neovim would hold it for changed, and ask before it writes the very same.
  M.look_at_disk(uris, true)
  for index, uri in ipairs(uris) do
    if vim.api.nvim_buf_get_changedtick(vim.uri_to_bufnr(uri)) ~= before[index] then
      -- The edit was computed for another text. Neovim itself would apply it all the same.
      return { applied = false, failureReason = 'the buffer was loaded from the disk again' }
    end
  end
  -- Without its label, which Neovim would print, maybe over more than one line.
  local unlabelled = vim.tbl_extend('force', params, { label = false })
  local result = vim.lsp.handlers['workspace/applyEdit'](err, unlabelled, ctx)
  for _, uri in ipairs(uris) do
    ours(vim.uri_to_bufnr(uri))
  end
  reveal.settle()
  event.emit('Edit', { uris = uris, label = params.label, applied = result and result.applied })
  return result
end

---Saves a buffer, as the user has agreed to: `acp/save`.
---@type lsp.Handler
function M.on_save(_, params)
  local buf = vim.uri_to_bufnr(params.uri)
  if not vim.api.nvim_buf_is_loaded(buf) then
    return { saved = false }
  end
  local saved, err = pcall(vim.api.nvim_buf_call, buf, function()
    vim.cmd('silent update')
  end)
  if not saved then
    require('acp.tell').error(tostring(err))
  end
  return { saved = saved and not vim.bo[buf].modified }
end

return M
