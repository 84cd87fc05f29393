---The conversation in a buffer, a block an upsert, redrawn where it changed.
local blocks = require('acp.blocks')
local config = require('acp.config')
local tell = require('acp.tell')
local window = require('acp.window')

local M = {}

local namespace = vim.api.nvim_create_namespace('acp.transcript')

---@class acp.Drawn
---@field block table
---@field lines acp.Line[]

---@class acp.Transcript
---@field buf integer
---@field order string[]
---@field drawn table<string, acp.Drawn>
---@field fold? acp.Line[] By line number; built when a fold expression asks.

---@type table<string, acp.Transcript>
local transcripts = {}

---@param id string
---@return acp.Transcript
local function transcript_of(id)
  local known = transcripts[id]
  if known and vim.api.nvim_buf_is_valid(known.buf) then
    return known
  end
  require('acp.highlight').define()
  local buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(buf, 'acp://' .. id)
  vim.bo[buf].bufhidden = 'hide'
  vim.bo[buf].undolevels = -1
  vim.bo[buf].modifiable = false
  vim.bo[buf].filetype = 'acp'
  vim.b[buf].acp_session = id
  if vim.treesitter.language.add('markdown') then
    vim.treesitter.start(buf, 'markdown')
  end
  local function map(lhs, rhs, desc)
    vim.keymap.set('n', lhs, rhs, { buffer = buf, desc = desc, nowait = true })
  end
  map('<CR>', M.go, 'Go to the place of this tool call')
  map('<C-c>', M.stop, 'End this tool call, or the command that it shows')
  map('q', '<C-w>c', 'Close the window')
  map(']]', function()
    M.jump(1)
  end, 'Next block')
  map('[[', function()
    M.jump(-1)
  end, 'Previous block')
  local new = { buf = buf, order = known and known.order or {}, drawn = {} }
  transcripts[id] = new
  if known then
    -- The buffer was wiped out, the conversation was not.
    local all = vim.tbl_map(function(key)
      return known.drawn[key].block
    end, known.order)
    new.order = {}
    M.update(id, all)
  end
  return new
end

---Windows that show the end of the buffer and are to go on doing so.
---@param buf integer
---@return integer[]
local function at_end(buf)
  local last = vim.api.nvim_buf_line_count(buf)
  return vim.tbl_filter(function(win)
    return vim.api.nvim_win_get_cursor(win)[1] >= last - 1
  end, vim.fn.win_findbuf(buf))
end

---@param old acp.Line[]
---@param new acp.Line[]
---@return integer start 0-based first line that differs
---@return integer old_end exclusive
---@return integer new_end exclusive
local function difference(old, new)
  local function same(one, other)
    return one.text == other.text and one.hl == other.hl
  end
  local start, most = 0, math.min(#old, #new)
  while start < most and same(old[start + 1], new[start + 1]) do
    start = start + 1
  end
  local tail = 0
  while tail < most - start and same(old[#old - tail], new[#new - tail]) do
    tail = tail + 1
  end
  return start, #old - tail, #new - tail
end

---@param buf integer
---@param at integer 0-based line the block begins at
---@param old acp.Line[]
---@param new acp.Line[]
local function redraw(buf, at, old, new)
  local start, old_end, new_end = difference(old, new)
  if start == old_end and start == new_end then
    return
  end
  local changed = vim.list_slice(new, start + 1, new_end)
  local texts = vim.tbl_map(function(line)
    return line.text
  end, changed)
  vim.bo[buf].modifiable = true
  vim.api.nvim_buf_clear_namespace(buf, namespace, at + start, at + old_end)
  vim.api.nvim_buf_set_lines(buf, at + start, at + old_end, true, texts)
  vim.bo[buf].modifiable = false
  vim.bo[buf].modified = false
  for index, line in ipairs(changed) do
    if line.hl then
      local row = at + start + index - 1
      vim.api.nvim_buf_set_extmark(buf, namespace, row, 0, {
        end_row = row + 1,
        hl_group = line.hl,
        hl_eol = true,
        invalidate = true,
        undo_restore = false,
      })
    end
  end
end

---@param transcript acp.Transcript
---@param index integer
---@return integer # 0-based line the block begins at
local function start_of(transcript, index)
  -- From the end: it is the last blocks that change.
  local line = vim.api.nvim_buf_line_count(transcript.buf) - 1
  for at = #transcript.order, index, -1 do
    line = line - #transcript.drawn[transcript.order[at]].lines
  end
  return line
end

---@param transcript acp.Transcript
---@param block table
---@param agent string
local function put(transcript, block, agent)
  local key = block.id
  local before = transcript.drawn[key]
  local lines = blocks.lines(block, agent)
  local index = #transcript.order + 1
  if before then
    for at = #transcript.order, 1, -1 do
      if transcript.order[at] == key then
        index = at
        break
      end
    end
  else
    before = { block = block, lines = {} }
    transcript.order[index] = key
    transcript.drawn[key] = before
  end
  local start = start_of(transcript, index)
  -- First the record, then the buffer: folds are computed while the lines are set.
  transcript.drawn[key] = { block = block, lines = lines }
  transcript.fold = nil
  redraw(transcript.buf, start, before.lines, lines)
end

---Takes blocks as the sidecar sent them, each new or in place of the one with its id.
---@param id string
---@param changed table[]
function M.update(id, changed)
  local transcript = transcript_of(id)
  local session = require('acp.session').get(id)
  local followers = at_end(transcript.buf)
  for _, block in ipairs(changed) do
    put(transcript, block, session and session.agent or 'agent')
  end
  local last = vim.api.nvim_buf_line_count(transcript.buf)
  for _, win in ipairs(followers) do
    vim.api.nvim_win_set_cursor(win, { last, 0 })
  end
end

---Says something in the conversation that is not of the sidecar.
---@param id string
---@param text string
function M.note(id, text)
  M.update(id, { { id = 'note-' .. vim.uv.hrtime(), kind = 'notice', title = text } })
end

---@param transcript acp.Transcript
---@return acp.Line[]
local function all_lines(transcript)
  if not transcript.fold then
    transcript.fold = {}
    for _, key in ipairs(transcript.order) do
      vim.list_extend(transcript.fold, transcript.drawn[key].lines)
    end
  end
  return transcript.fold
end

---@return acp.Transcript?
local function here()
  return transcripts[vim.b.acp_session or '']
end

---@param number integer
---@return string
function M.foldexpr(number)
  local transcript = here()
  local line = transcript and all_lines(transcript)[number]
  if not line or not line.fold then
    return '0'
  end
  return (line.starts and '>' or '') .. line.fold
end

---@return string
function M.foldtext()
  local count = vim.v.foldend - vim.v.foldstart
  return ('%s (%d %s)'):format(
    vim.fn.getline(vim.v.foldstart),
    count,
    count == 1 and 'line' or 'lines'
  )
end

---@param buf integer
---@return integer?
local function visible(buf)
  return vim.iter(vim.api.nvim_tabpage_list_wins(0)):find(function(win)
    return vim.api.nvim_win_get_buf(win) == buf
  end)
end

---@param win integer
local function dress(win)
  window.set_options(win, {
    number = false,
    relativenumber = false,
    signcolumn = 'no',
    foldmethod = 'expr',
    foldexpr = "v:lua.require'acp.transcript'.foldexpr(v:lnum)",
    foldtext = "v:lua.require'acp.transcript'.foldtext()",
    -- Thoughts lie one level deeper than tool output: they start closed, it starts open.
    foldlevel = 1,
    wrap = true,
    linebreak = true,
    breakindent = true,
    list = false,
    spell = false,
    winbar = " %{v:lua.require'acp.statusline'.get()}%=%{v:lua.require'acp.statusline'.title()} ",
  })
end

---Shows the conversation beside what is there; the cursor stays where it is.
---@param id string
---@return integer? win
function M.show(id)
  local buf = transcript_of(id).buf
  local win = visible(buf)
  if win then
    return win
  end
  -- One window for the conversations: another session's gives way.
  win = vim.iter(vim.api.nvim_tabpage_list_wins(0)):find(function(candidate)
    return vim.b[vim.api.nvim_win_get_buf(candidate)].acp_session ~= nil
  end)
  local here, err = vim.api.nvim_get_current_win(), nil
  if not win and #vim.api.nvim_tabpage_list_wins(0) == 1 and window.is_blank(here) then
    win = here -- a Neovim that was just started
    vim.w[win].acp = 'transcript'
  end
  if win then
    vim.api.nvim_win_set_buf(win, buf)
  else
    win, err = window.open(buf, config.get().transcript, 'transcript')
  end
  if not win then
    tell.warn('no room for the conversation: ' .. err)
    return nil
  end
  dress(win)
  vim.api.nvim_win_set_cursor(win, { vim.api.nvim_buf_line_count(buf), 0 })
  return win
end

---Shows the conversation, or closes its window where it is shown.
---@param id string
function M.toggle(id)
  local win = visible(transcript_of(id).buf)
  if win then
    vim.api.nvim_win_close(win, false)
  else
    M.show(id)
  end
end

---Goes to the place of the tool call under the cursor, in a window of the user's.
function M.go()
  local transcript = here()
  local line = transcript and all_lines(transcript)[vim.fn.line('.')]
  if not line or not line.place then
    return
  end
  window.enter_users()
  vim.cmd.edit(vim.fn.fnameescape(line.place.path))
  if line.place.line then
    local last = vim.api.nvim_buf_line_count(0)
    vim.api.nvim_win_set_cursor(0, { math.max(1, math.min(line.place.line, last)), 0 })
  end
end

---@param transcript acp.Transcript
---@param number integer
---@return table? block
local function block_at(transcript, number)
  local last = 0
  for _, key in ipairs(transcript.order) do
    last = last + #transcript.drawn[key].lines
    if number <= last then
      return transcript.drawn[key].block
    end
  end
end

---The tool calls that the agent lets be cancelled alone.
---@param id string
---@return string[]
function M.stoppable(id)
  local transcript, ids = transcripts[id], {}
  for _, key in ipairs(transcript and transcript.order or {}) do
    local block = transcript.drawn[key].block
    if block.kind == 'toolCall' and block.cancellable then
      ids[#ids + 1] = block.toolCallId
    end
  end
  return ids
end

---Ends the tool call under the cursor where it can be cancelled alone, else the command that it
---shows and that runs.
function M.stop()
  local transcript = here()
  local block = transcript and block_at(transcript, vim.fn.line('.'))
  if not block or block.kind ~= 'toolCall' then
    tell.error('no tool call here. :Acp cancel ends the turn')
    return
  end
  if not block.cancellable then
    for _, content in ipairs(block.content or {}) do
      local terminal = content.terminal
      if terminal and not terminal.exitStatus then
        require('acp.terminal').kill(terminal.terminalId)
        return
      end
    end
  end
  -- The sidecar knows why, where it cannot be.
  require('acp.client').execute('acp.toolCall.cancel', {
    sessionId = vim.b.acp_session,
    toolCallId = block.toolCallId,
  }, function(err)
    if err then
      tell.error(err)
    end
  end)
end

---@param direction 1|-1
function M.jump(direction)
  local transcript = here()
  if not transcript then
    return
  end
  local now, line, target = vim.fn.line('.'), 1, nil
  for _, key in ipairs(transcript.order) do
    if direction > 0 and line > now then
      target = line
      break
    elseif direction < 0 and line < now then
      target = line
    end
    line = line + #transcript.drawn[key].lines
  end
  if target then
    vim.api.nvim_win_set_cursor(0, { target, 0 })
  end
end

return M
