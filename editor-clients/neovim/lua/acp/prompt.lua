---A buffer to write a prompt in. Sent by <CR> in Normal mode, <C-s>, or :write.
local M = {}

---@type integer?
local buf

---@class acp.Attached
---@field uri string
---@field range? lsp.Range

---@type acp.Attached[]
local context = {}

---@type table[] Content blocks that go with the prompt, such as pictures.
local content = {}

---@type string? The waiting prompt that is being changed.
local editing

---@type integer? The window the user came from, and goes back to.
local came_from

---@return integer?
local function window()
  return buf and vim.fn.win_findbuf(buf)[1]
end

---Says above the prompt what it is and how it is sent.
local function show_attached()
  local win, count = window(), #context + #content
  if win then
    vim.wo[win].winbar = (' %s%s — <C-s> sends, in Normal mode <CR>'):format(
      editing and 'Waiting prompt' or 'Prompt',
      count > 0 and (' with %d attached'):format(count) or ''
    )
  end
end

local function close()
  local win = window()
  if win and #vim.api.nvim_list_wins() > 1 then
    vim.api.nvim_win_close(win, true)
    if came_from and vim.api.nvim_win_is_valid(came_from) then
      vim.api.nvim_set_current_win(came_from)
    end
  end
end

local function send()
  local text = vim.trim(table.concat(vim.api.nvim_buf_get_lines(assert(buf), 0, -1, false), '\n'))
  if text == '' and (editing or #content == 0) then
    return
  end
  local attached, blocks, turn = context, content, editing
  context, editing = {}, nil
  -- One that waits already keeps what was attached to it; this is of another.
  content = turn and content or {}
  vim.api.nvim_buf_set_lines(buf, 0, -1, true, {})
  vim.bo[buf].modified = false
  vim.cmd.stopinsert()
  close()
  if turn then
    require('acp.session').execute('acp.session.queue', { edit = { turnId = turn, text = text } })
    return
  end
  require('acp.session').prompt(text, #attached > 0 and attached or nil, #blocks > 0 and blocks or nil)
end

---What the sidecar has suggested for the text that is being completed.
---@type table[]
local suggested = {}

---Milliseconds to wait for suggestions; more would be felt.
local PATIENCE = 1000

---Completes the agent's own commands, at the start of the prompt, and files behind an `@`.
---@param findstart 0|1
---@param base string
---@return integer|table[]
function M.omnifunc(findstart, base)
  if findstart == 1 then
    suggested = {}
    local session, client = require('acp.session').current(), require('acp.client').get()
    if not session or not client or not client.initialized then
      return -3
    end
    local row, column = unpack(vim.api.nvim_win_get_cursor(0))
    local before = vim.api.nvim_buf_get_lines(0, 0, row, true)
    before[row] = before[row]:sub(1, column)
    local text = table.concat(before, '\n')
    local argument = { sessionId = session.id, text = text }
    local params = { command = 'acp.prompt.complete', arguments = { argument } }
    local answer = client:request_sync('workspace/executeCommand', params, PATIENCE)
    suggested = answer and answer.result and answer.result.items or {}
    if #suggested == 0 then
      return -3
    end
    local offset = vim.str_byteindex(text, client.offset_encoding, suggested[1].start, false)
    return column - (#text - offset)
  end
  return vim.tbl_map(function(item)
    return { word = (item.text:gsub('%s+$', '')), abbr = item.label, menu = item.detail, kind = item.kind:sub(1, 1) }
  end, suggested)
end

---What is selected where the user comes from: `acp/selection`.
---@type lsp.Handler
function M.on_selection()
  local win = require('acp.window').users()
  if not win then
    return vim.NIL
  end
  local seen = vim.api.nvim_win_get_buf(win)
  if vim.api.nvim_buf_get_name(seen) == '' then
    return vim.NIL
  end
  local function range(first, last)
    return { start = { line = first, character = 0 }, ['end'] = { line = last, character = 0 } }
  end
  local first, last = vim.api.nvim_buf_get_mark(seen, '<')[1], vim.api.nvim_buf_get_mark(seen, '>')[1]
  local visible = vim.api.nvim_win_call(win, function()
    return range(vim.fn.line('w0') - 1, vim.fn.line('w$'))
  end)
  return {
    uri = vim.uri_from_bufnr(seen),
    selection = first > 0 and range(first - 1, last) or vim.NIL,
    visibleRange = visible,
  }
end

local function create()
  buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(buf, 'acp://prompt')
  vim.bo[buf].buftype = 'acwrite'
  vim.bo[buf].bufhidden = 'hide'
  vim.bo[buf].filetype = 'acp-prompt'
  vim.bo[buf].omnifunc = "v:lua.require'acp.prompt'.omnifunc"
  vim.keymap.set({ 'n', 'i' }, '<C-s>', send, { buffer = buf, desc = 'Send the prompt' })
  vim.keymap.set('n', '<CR>', send, { buffer = buf, desc = 'Send the prompt' })
  vim.keymap.set('n', 'q', close, { buffer = buf, desc = 'Close, keep the text', nowait = true })
  vim.api.nvim_create_autocmd('BufWriteCmd', { buffer = buf, callback = send })
  if vim.treesitter.language.add('markdown') then
    vim.treesitter.start(buf, 'markdown')
  end
end

---Changes a prompt that waits.
---@param prompt { turnId: string, text: string }
function M.edit(prompt)
  M.open(nil, prompt.turnId)
  vim.api.nvim_buf_set_lines(assert(buf), 0, -1, true, vim.split(prompt.text, '\n', { plain = true }))
end

---Puts prompts that were never sent in the window, below what is written there. They go out
---when the user sends them.
---@param unsent { text: string, content: table[] }[]
function M.give_back(unsent)
  M.open()
  local lines = vim.api.nvim_buf_get_lines(assert(buf), 0, -1, false)
  for _, prompt in ipairs(unsent) do
    if table.concat(lines) == '' then
      lines = {}
    elseif prompt.text ~= '' then
      lines[#lines + 1] = ''
    end
    vim.list_extend(lines, vim.split(prompt.text, '\n', { plain = true }))
    vim.list_extend(content, prompt.content)
  end
  vim.api.nvim_buf_set_lines(assert(buf), 0, -1, true, lines)
  vim.cmd.stopinsert()
  show_attached()
end

---@param attached? acp.Attached[] What goes with the prompt.
---@param turn? string The waiting prompt that is changed; without it a new one is written.
function M.open(attached, turn)
  editing = turn
  if not buf or not vim.api.nvim_buf_is_valid(buf) then
    create()
  end
  context = attached or context
  local win = window()
  if vim.api.nvim_get_current_win() ~= win then
    came_from = vim.api.nvim_get_current_win()
  end
  if win then
    vim.api.nvim_set_current_win(win)
  else
    local session = require('acp.session').current()
    local anchor = session and require('acp.transcript').show(session.id) or 0
    win = vim.api.nvim_open_win(assert(buf), true, { win = anchor, split = 'below', height = 6 })
    require('acp.window').reset_options(win)
    vim.w[win].acp = 'prompt'
    vim.wo[win].winfixheight = true
  end
  show_attached()
  require('acp.session').look()
  vim.cmd.startinsert({ bang = true })
end

return M
