---The agent's commands: what each writes, live, in a buffer of its own.
local blocks = require('acp.blocks')
local tell = require('acp.tell')
local window = require('acp.window')

local M = {}

---@class acp.Terminal As `acp/terminal` has it.
---@field terminalId string
---@field sessionId? string
---@field command? string
---@field cwd? string
---@field output string
---@field truncated boolean
---@field exitStatus? { exitCode?: integer, signal?: string }

---@type table<string, acp.Terminal>
local terminals = {}
---@type string[] In order of first sight.
local order = {}
---@type table<string, integer>
local buffers = {}

---@return string[]
function M.ids()
  return vim.list_slice(order)
end

---The one that is meant where none is named: the last that runs, else the last.
---@return string?
local function latest()
  for index = #order, 1, -1 do
    if not terminals[order[index]].exitStatus then
      return order[index]
    end
  end
  return order[#order]
end

---@param terminal acp.Terminal
---@return string[]
local function lines_of(terminal)
  local lines = blocks.split((terminal.output:gsub('\n$', '')))
  if terminal.truncated then
    table.insert(lines, 1, '… earlier output is left out')
  end
  return lines
end

---@param buf integer
---@param lines string[]
local function draw(buf, lines)
  local last = vim.api.nvim_buf_line_count(buf)
  local followers = vim.tbl_filter(function(win)
    return vim.api.nvim_win_get_cursor(win)[1] == last
  end, vim.fn.win_findbuf(buf))
  local old = vim.api.nvim_buf_get_lines(buf, 0, -1, true)
  local same = 0
  while same < math.min(#old, #lines) and old[same + 1] == lines[same + 1] do
    same = same + 1
  end
  vim.bo[buf].modifiable = true
  vim.api.nvim_buf_set_lines(buf, same, -1, true, vim.list_slice(lines, same + 1))
  vim.bo[buf].modifiable = false
  vim.bo[buf].modified = false
  for _, win in ipairs(followers) do
    vim.api.nvim_win_set_cursor(win, { vim.api.nvim_buf_line_count(buf), 0 })
  end
end

---What the window's bar says of the command in the current buffer.
---@return string
function M.bar()
  local terminal = terminals[vim.b.acp_terminal or '']
  if not terminal then
    return ''
  end
  local command = blocks.split(terminal.command or terminal.terminalId)[1]
  return ('$ %s  (%s)'):format(command, blocks.how(terminal))
end

---@param id string
---@return integer buf
local function buffer_of(id)
  local buf = buffers[id]
  if buf and vim.api.nvim_buf_is_valid(buf) then
    return buf
  end
  buf = vim.api.nvim_create_buf(false, true)
  buffers[id] = buf
  vim.api.nvim_buf_set_name(buf, 'acp-terminal://' .. id)
  vim.bo[buf].bufhidden = 'hide'
  vim.bo[buf].undolevels = -1
  vim.bo[buf].modifiable = false
  vim.bo[buf].filetype = 'acp-terminal'
  vim.b[buf].acp_terminal = id
  local function map(lhs, rhs, desc)
    vim.keymap.set('n', lhs, rhs, { buffer = buf, desc = desc, nowait = true })
  end
  map('q', '<C-w>c', 'Close the window')
  map('<C-c>', function()
    M.kill(id)
  end, 'End this command')
  return buf
end

---Asks for all of the output: what is told while it grows is only its end.
---@param id string
local function fetch(id)
  local argument = { terminalId = id, sessionId = terminals[id] and terminals[id].sessionId }
  require('acp.client').execute('acp.terminal.output', argument, function(err, terminal)
    if err then
      tell.error(err)
    else
      M.on_terminal(nil, terminal, true)
    end
  end)
end

---Opens the output of a command, by default of the last one.
---@param id? string
function M.open(id)
  id = id or latest()
  if not id or not terminals[id] then
    tell.error(id and ('no terminal %q'):format(id) or 'no command has run yet')
    return
  end
  local buf = buffer_of(id)
  draw(buf, lines_of(terminals[id]))
  local win = vim.fn.win_findbuf(buf)[1]
  if not win then
    local opened, err = window.open(buf, { position = 'below', size = 0.3 }, 'terminal')
    if not opened then
      tell.error(('no room for the output: %s'):format(err))
      return
    end
    win = opened
    window.set_options(win, {
      number = false,
      relativenumber = false,
      signcolumn = 'no',
      list = false,
      spell = false,
      wrap = true,
      winbar = " %{v:lua.require'acp.terminal'.bar()}",
    })
  end
  vim.api.nvim_set_current_win(win)
  vim.api.nvim_win_set_cursor(win, { vim.api.nvim_buf_line_count(buf), 0 })
  if terminals[id].truncated then
    fetch(id)
  end
end

---Ends a command and all it has started, by default the last one.
---@param id? string
function M.kill(id)
  id = id or latest()
  if not id then
    tell.error('no command has run yet')
    return
  end
  local argument = { terminalId = id, sessionId = terminals[id] and terminals[id].sessionId }
  require('acp.client').execute('acp.terminal.kill', argument, function(err)
    if err then
      tell.error(err)
    end
  end)
end

---Forgets all of them: the sidecar is gone. What is on the screen stays there.
function M.forget()
  terminals, order, buffers = {}, {}, {}
end

---@param terminal acp.Terminal
---@param whole? boolean It is all of the output there is.
function M.on_terminal(_, terminal, whole)
  local id = terminal.terminalId
  if not terminals[id] then
    order[#order + 1] = id
  end
  terminals[id] = terminal
  local buf = buffers[id]
  if buf and vim.api.nvim_buf_is_valid(buf) then
    if terminal.exitStatus and terminal.truncated and not whole then
      fetch(id)
    else
      draw(buf, lines_of(terminal))
    end
    vim.cmd.redrawstatus({ bang = true })
  end
end

return M
