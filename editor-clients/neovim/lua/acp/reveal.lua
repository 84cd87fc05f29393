---The agent's window: shows where the agent works and never takes the focus.
local config = require('acp.config')
local event = require('acp.event')
local window = require('acp.window')

local M = {}

local namespace = vim.api.nvim_create_namespace('acp.reveal')

---@class acp.View
---@field buf integer
---@field cursor integer[]
---@field topline integer

---@type integer?
local win
---@type integer? The buffer that holds the mark of the place.
local marked
---The user closed the window: it stays closed until the next prompt.
local dismissed = false
---True while we change the window ourselves.
local busy = false
---@type acp.View? The window as we left it.
local view

---The agent's window, where there is one.
---@return integer?
function M.window()
  if win and vim.api.nvim_win_is_valid(win) then
    return win
  end
  win = nil
end

---@param target integer
---@return acp.View
local function look(target)
  return {
    buf = vim.api.nvim_win_get_buf(target),
    cursor = vim.api.nvim_win_get_cursor(target),
    topline = vim.fn.getwininfo(target)[1].topline,
  }
end

---Takes the window as it is for our own doing. Called after every change of ours.
function M.settle()
  local target = M.window()
  view = target and look(target) or nil
end

---What the user did in the agent's window since we left it.
---@return 'switch'|'select'|'scroll'|nil
function M.users_doing()
  local target = M.window()
  if busy or not target or not view then
    return nil
  end
  local now = look(target)
  local before = view
  view = now
  if now.buf ~= before.buf then
    return 'switch'
  end
  if not vim.deep_equal(now.cursor, before.cursor) then
    return 'select'
  end
  return now.topline ~= before.topline and 'scroll' or nil
end

---A prompt went out: following returns, also where the user had closed the window.
function M.prompted()
  dismissed = false
end

---@param closed integer
function M.closed(closed)
  if closed == win then
    win, view, dismissed = nil, nil, true
  end
end

---@param buf integer
---@return string? err
local function load(buf)
  if vim.api.nvim_buf_is_loaded(buf) then
    return nil
  end
  if not vim.uv.fs_stat(vim.api.nvim_buf_get_name(buf)) then
    return 'missing'
  end
  -- A question about a swap file would stop everything until it is answered.
  local group = vim.api.nvim_create_augroup('acp.reveal.swap', {})
  vim.api.nvim_create_autocmd('SwapExists', {
    group = group,
    callback = function()
      vim.v.swapchoice = 'o'
    end,
  })
  local loaded, err = pcall(vim.fn.bufload, buf)
  vim.api.nvim_del_augroup_by_id(group)
  if not loaded then
    return tostring(err)
  end
  vim.bo[buf].buflisted = true
end

local function unmark()
  if marked and vim.api.nvim_buf_is_valid(marked) then
    vim.api.nvim_buf_clear_namespace(marked, namespace, 0, -1)
  end
  marked = nil
end

---@param target integer
---@param range lsp.Range
local function mark(target, range)
  local buf = vim.api.nvim_win_get_buf(target)
  local count = vim.api.nvim_buf_line_count(buf)
  local first = math.min(range.start.line, count - 1)
  local last = math.max(first, math.min(range['end'].line, count - 1))
  vim.api.nvim_win_set_cursor(target, { first + 1, 0 })
  vim.api.nvim_win_call(target, function()
    -- Not with :normal, which would end a command the user is in the middle of.
    if vim.fn.foldclosed(first + 1) ~= -1 then
      vim.cmd('silent! ' .. first + 1 .. 'foldopen!')
    end
    local above = math.floor(vim.api.nvim_win_get_height(target) / 2)
    vim.fn.winrestview({ topline = math.max(1, first + 1 - above) })
  end)
  marked = buf
  for line = first, last do
    vim.api.nvim_buf_set_extmark(buf, namespace, line, 0, {
      line_hl_group = 'AcpReveal',
      sign_text = line == first and '▶' or nil,
      sign_hl_group = 'AcpRevealSign',
      -- Over the sign of a change.
      priority = require('acp.config').get().review.sign_priority + 1,
    })
  end
end

---@param buf integer
---@return string? err
local function put(buf)
  local target = M.window()
  if target then
    -- With 'nohidden' a modified buffer could not leave the window; it is not lost by that.
    local hidden = vim.o.hidden
    vim.o.hidden = true
    local done, err = pcall(vim.api.nvim_win_set_buf, target, buf)
    vim.o.hidden = hidden
    return not done and tostring(err) or nil
  end
  local err
  win, err = window.open(buf, config.get().reveal, 'reveal')
  return err
end

---@param params { sessionId: string, uri: string, selection?: lsp.Range, kind?: string }
---@return string? err Why it could not be shown.
local function show(params)
  if dismissed then
    return 'the user closed the window'
  end
  local buf = vim.uri_to_bufnr(params.uri)
  local err = load(buf) or put(buf)
  if err then
    return err
  end
  local target = assert(M.window())
  unmark()
  if params.selection then
    mark(target, params.selection)
  end
  local session = require('acp.session').get(params.sessionId)
  local bar = ('%s %s'):format(session and session.agent or 'agent', params.kind or '')
  window.set_options(target, { winbar = '%#AcpRevealBar# ' .. bar:gsub('%%', '%%%%') .. '%*' })
  return nil
end

---@type lsp.Handler
function M.on_reveal(_, params)
  busy = true
  local done, err = pcall(show, params)
  busy = false
  M.settle()
  local reason = not done and tostring(err) or err
  local line = params.selection and params.selection.start.line + 1 or nil
  event.emit('Reveal', { uri = params.uri, line = line, shown = not reason, reason = reason })
  return { shown = not reason, reason = reason }
end

return M
