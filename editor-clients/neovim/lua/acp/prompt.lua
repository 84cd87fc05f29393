---A buffer to write a prompt in. Sent by <CR> in Normal mode, <C-s>, or :write.
local M = {}

---@type integer?
local buf

---@class acp.Attached
---@field uri string
---@field range? lsp.Range

---@type acp.Attached[]
local context = {}

---@type integer? The window the user came from, and goes back to.
local came_from

---@return integer?
local function window()
  return buf and vim.fn.win_findbuf(buf)[1]
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
  if text == '' then
    return
  end
  local attached = context
  context = {}
  vim.api.nvim_buf_set_lines(buf, 0, -1, true, {})
  vim.bo[buf].modified = false
  vim.cmd.stopinsert()
  close()
  require('acp.session').prompt(text, #attached > 0 and attached or nil)
end

---Completes the agent's own commands, at the start of the prompt.
---@param findstart 0|1
---@param base string
---@return integer|table[]
function M.omnifunc(findstart, base)
  if findstart == 1 then
    return vim.fn.line('.') == 1 and vim.startswith(vim.fn.getline(1), '/') and 0 or -3
  end
  local session = require('acp.session').current()
  local found = {}
  for _, command in ipairs(session and session.commands or {}) do
    local word = '/' .. command.name
    if vim.startswith(word, base) then
      found[#found + 1] = { word = word, menu = command.description }
    end
  end
  return found
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

---@param attached? acp.Attached[] What goes with the prompt.
function M.open(attached)
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
  vim.wo[win].winbar = (' Prompt%s — <CR> sends'):format(
    #context > 0 and (' with %d attached'):format(#context) or ''
  )
  require('acp.session').look()
  vim.cmd.startinsert({ bang = true })
end

return M
