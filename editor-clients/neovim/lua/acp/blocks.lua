---Turns a block of the conversation into lines. Pure: a block goes in, lines come out.
local config = require('acp.config')

local M = {}

---@class acp.Line
---@field text string
---@field hl? string A highlight group for the whole line.
---@field fold? integer The fold level the line belongs to.
---@field starts? boolean The line begins its fold.
---@field place? { path: string, line?: integer } Where <CR> on the line goes.

---Lines of a tool's output that are drawn; its end is what one wants to see.
local MAX_OUTPUT = 200
---Bytes after which a line is broken: the screen gets slow on longer ones.
local MAX_LINE = 4000

---@param text string
---@return string[]
local function split(text)
  local lines = {}
  for _, line in ipairs(vim.split(text, '\n', { plain = true })) do
    line = line:gsub('\r$', '')
    while #line > MAX_LINE do
      local cut = MAX_LINE + vim.str_utf_start(line, MAX_LINE + 1)
      lines[#lines + 1] = line:sub(1, cut)
      line = line:sub(cut + 1)
    end
    lines[#lines + 1] = line
  end
  return lines
end
M.split = split

---@param path string
---@return string
local function short(path)
  return vim.fn.fnamemodify(path, ':~:.')
end

---@param content table A content block of ACP.
---@return string
local function as_text(content)
  local kind = content.type
  if kind == 'text' then
    return content.text or ''
  elseif kind == 'resource_link' then
    return ('[%s](%s)'):format(content.title or content.name or content.uri, content.uri)
  elseif kind == 'resource' then
    return ('[%s]'):format((content.resource or {}).uri or 'resource')
  end
  return ('[%s %s]'):format(kind or 'content', content.mimeType or '')
end

---@param blocks table[]?
---@return string
local function all_text(blocks)
  local texts = {}
  for _, block in ipairs(blocks or {}) do
    texts[#texts + 1] = as_text(block)
  end
  return table.concat(texts, '')
end

---The difference between two texts, for reading.
---@param path string
---@param before string?
---@param after string
---@return acp.Line[]
function M.diff(path, before, after)
  local lines = { { text = short(path) .. (before and '' or ' (new)'), hl = 'AcpDetail' } }
  local unified = vim.diff(before or '', after, { ctxlen = 2 }) --[[@as string]]
  for _, line in ipairs(split((unified:gsub('\n$', '')))) do
    local first = line:sub(1, 1)
    local hl = first == '+' and 'AcpDiffAdd' or first == '-' and 'AcpDiffDelete' or nil
    lines[#lines + 1] = { text = line, hl = first == '@' and 'AcpDiffHunk' or hl }
  end
  return lines
end

local OPERATIONS = { add = ' (new)', delete = ' (deleted)', move = ' (moved)', copy = ' (copied)' }
---Lines of a patch that did not change and are drawn, on each side of those that did.
local CONTEXT = 2

---The part of a patch that is about one file, for reading: without its head, and of a long
---stretch that stays the same only the ends.
---@param body string[]
---@return acp.Line[]
local function hunk_lines(body)
  local lines, same = {}, {} ---@type acp.Line[], string[]
  local function flush(last)
    local shown = last and CONTEXT or 2 * CONTEXT
    if #lines > 0 and lines[#lines].hl == 'AcpDiffHunk' then
      shown = last and 0 or CONTEXT
    end
    local before = math.min(#same, last and shown or math.max(0, shown - CONTEXT))
    local after = last and 0 or math.min(#same - before, CONTEXT)
    for index, text in ipairs(same) do
      if index <= before or index > #same - after then
        lines[#lines + 1] = { text = text }
      elseif index == before + 1 and before > 0 and not last then
        lines[#lines + 1] = { text = '…', hl = 'AcpDetail' }
      end
    end
    same = {}
  end
  for _, text in ipairs(body) do
    local first = text:sub(1, 1)
    if first == '+' or first == '-' then
      flush(false)
      lines[#lines + 1] = { text = text, hl = first == '+' and 'AcpDiffAdd' or 'AcpDiffDelete' }
    elseif first == '@' then
      flush(true)
      lines[#lines + 1] = { text = text, hl = 'AcpDiffHunk' }
    elseif first == ' ' then
      same[#same + 1] = text
    elseif text ~= '' then
      flush(true)
      lines[#lines + 1] = { text = text, hl = 'AcpDetail' }
    end
  end
  flush(true)
  return lines
end

---@class acp.PatchPart What a patch says of one file.
---@field head string
---@field body string[]

---@param text string
---@return acp.PatchPart[]
local function parts_of(text)
  local parts, inside = {}, false ---@type acp.PatchPart[], boolean
  for _, line in ipairs(split(text)) do
    if vim.startswith(line, 'diff --git ') then
      parts[#parts + 1] = { head = line .. '\n', body = {} }
      inside = false
    elseif #parts == 0 then
      parts[1] = { head = line .. '\n', body = {} }
    elseif inside or vim.startswith(line, '@@') then
      inside = true
      table.insert(parts[#parts].body, line)
    else
      parts[#parts].head = parts[#parts].head .. line .. '\n'
    end
  end
  return parts
end

---A report of changed files, as version 2 of the protocol has it: `changes` says which, the
---patch is for showing.
---@param content table
---@return acp.Line[]
function M.changed(content)
  local lines = {} ---@type acp.Line[]
  local patch = content.patch or {}
  local parts = patch.format == 'git_patch' and parts_of(patch.text or '') or {}
  local function append(part)
    vim.list_extend(lines, hunk_lines(part.body))
  end
  for _, change in ipairs(content.changes) do
    local operation, path = change.operation, change.path
    local text = path and short(path) or 'a change'
    local what = OPERATIONS[operation] or operation ~= 'modify' and (' (%s)'):format(operation) or ''
    if change.oldPath and change.path then
      text = ('%s → %s'):format(short(change.oldPath), text)
    end
    local sort = change.fileType and change.fileType ~= 'text' and ', ' .. change.fileType or ''
    lines[#lines + 1] = { text = split(text .. what .. sort)[1], hl = 'AcpDetail' }
    for index, part in ipairs(parts) do
      if path and (part.head .. '\n'):find(path .. '\n', 1, true) then
        append(table.remove(parts, index))
        break
      end
    end
  end
  for _, part in ipairs(parts) do -- of names that git has to quote, or without a change
    append(part)
  end
  if patch.text and patch.format ~= 'git_patch' then
    for _, text in ipairs(split((patch.text:gsub('\n+$', '')))) do
      lines[#lines + 1] = { text = text }
    end
  end
  return lines
end

---@param lines acp.Line[]
---@param level integer
---@return acp.Line[]
local function folded(lines, level)
  for index, line in ipairs(lines) do
    line.fold = level
    line.starts = index == 1
  end
  return lines
end

---@type table<string, fun(block: table, agent: string): acp.Line[]>
local draw = {}

function draw.message(block, agent)
  local icons = config.get().icons
  local role = block.role
  local lines, hl ---@type acp.Line[], string?
  if role == 'user' then
    lines = { { text = icons.user .. ' You', hl = 'AcpUser' } }
  elseif role == 'thought' then
    hl = 'AcpThought'
    lines = { { text = icons.thought .. ' Thought', hl = hl } }
  else
    lines = { { text = icons.agent .. ' ' .. agent, hl = 'AcpAgent' } }
  end
  for _, line in ipairs(split(all_text(block.content))) do
    lines[#lines + 1] = { text = line, hl = hl }
  end
  return role == 'thought' and folded(lines, 2) or lines
end

local STATUS_HL = {
  pending = 'AcpPending',
  in_progress = 'AcpRunning',
  completed = 'AcpCompleted',
  failed = 'AcpFailed',
  cancelled = 'AcpFailed',
}

---How it is with a command: it runs, or how it ended.
---@param terminal acp.Terminal
---@return string
function M.how(terminal)
  local status = terminal.exitStatus
  if not status then
    return 'running'
  end
  return status.signal and 'ended by ' .. status.signal
    or status.exitCode and 'exit ' .. status.exitCode
    or 'ended'
end

---@param lines acp.Line[]
---@param text string
local function append_end(lines, text)
  local texts = split((text:gsub('\n+$', '')))
  local first = math.max(1, #texts - MAX_OUTPUT + 1)
  if first > 1 then
    lines[#lines + 1] = { text = ('… %d lines before'):format(first - 1), hl = 'AcpDetail' }
  end
  for index = first, #texts do
    lines[#lines + 1] = { text = texts[index] }
  end
end

---@param terminal acp.Terminal
---@return acp.Line[]
local function command(terminal)
  local lines = {} ---@type acp.Line[]
  for index, text in ipairs(terminal.command and split(terminal.command) or {}) do
    lines[index] = { text = (index == 1 and '$ ' or '  ') .. text, hl = 'AcpDetail' }
  end
  if terminal.truncated then
    lines[#lines + 1] = { text = '… earlier output is left out', hl = 'AcpDetail' }
  end
  if terminal.output ~= '' then
    append_end(lines, terminal.output)
  end
  local failed = terminal.exitStatus and terminal.exitStatus.exitCode ~= 0
  local hl = failed and 'AcpFailed' or not terminal.exitStatus and 'AcpRunning' or 'AcpDetail'
  lines[#lines + 1] = { text = M.how(terminal), hl = hl }
  return lines
end

---@param content table An item of a tool call's content.
---@return acp.Line[]
local function detail(content)
  if content.type == 'diff' and content.changes then
    return M.changed(content)
  elseif content.type == 'diff' then
    return M.diff(content.path, content.oldText, content.newText or '')
  elseif content.type == 'terminal' and content.terminal then
    return command(content.terminal)
  elseif content.type == 'terminal' then
    return { { text = 'terminal ' .. content.terminalId, hl = 'AcpDetail' } }
  end
  local lines = {} ---@type acp.Line[]
  append_end(lines, as_text(content.content or content))
  return lines
end

function draw.toolCall(block)
  local icon = config.get().icons[block.status] or config.get().icons.pending
  local place = (block.locations or {})[1]
  local where = ''
  if place then
    where = '  ' .. short(place.path) .. (place.line and ':' .. place.line or '')
  end
  local title = split(block.title or block.toolCallId or '')[1]
  local lines = {
    { text = icon .. ' ' .. title .. where, hl = STATUS_HL[block.status], place = place },
  }
  for _, content in ipairs(block.content or {}) do
    for _, line in ipairs(detail(content)) do
      line.text = '  ' .. line.text
      lines[#lines + 1] = line
    end
  end
  for _, line in ipairs(lines) do
    line.place = line.place or place
  end
  return #lines > 1 and folded(lines, 1) or lines
end

function draw.plan(block)
  local icons = config.get().icons
  local lines = { { text = 'Plan', hl = 'AcpPlan' } }
  for _, entry in ipairs(block.entries or {}) do
    for index, text in ipairs(split(entry.content or '')) do
      lines[#lines + 1] = {
        text = (index == 1 and '  ' .. (icons[entry.status] or icons.pending) or '   ') .. ' ' .. text,
        hl = STATUS_HL[entry.status],
      }
    end
  end
  return lines
end

function draw.permission(block)
  local icon = config.get().icons.waiting
  local outcome = block.state or 'waiting'
  for _, option in ipairs(block.options or {}) do
    if block.optionId and option.optionId == block.optionId then
      outcome = option.title or option.name
    end
  end
  local first = split(block.message or '')[1]
  return { { text = ('%s %s → %s'):format(icon, first, split(outcome)[1]), hl = 'AcpQuestion' } }
end

function draw.elicitation(block)
  return require('acp.elicitation').lines(block)
end

function draw.notice(block)
  local icon = config.get().icons.notice
  local lines = { { text = icon .. ' ' .. split(block.title or '')[1], hl = 'AcpNotice' } }
  for _, line in ipairs(block.description and split(block.description) or {}) do
    lines[#lines + 1] = { text = '  ' .. line, hl = 'AcpDetail' }
  end
  return lines
end

function draw.compaction(block)
  local lines = { { text = ('Context compacted (%s)'):format(block.status or ''), hl = 'AcpNotice' } }
  for _, line in ipairs(split(all_text(block.summary))) do
    lines[#lines + 1] = { text = '  ' .. line, hl = 'AcpDetail' }
  end
  return folded(lines, 1)
end

---The lines of a block; none for a block of a kind that is not drawn.
---@param block table
---@param agent string
---@return acp.Line[]
function M.lines(block, agent)
  local renderer = draw[block.kind]
  if not renderer then
    return {}
  end
  local lines = renderer(block, agent)
  lines[#lines + 1] = { text = '' }
  return lines
end

return M
