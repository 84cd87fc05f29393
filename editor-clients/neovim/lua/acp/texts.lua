---The old and the new lines of hunks, asked of the sidecar and kept as long as the hunk waits.
local changes = require('acp.changes')
local client = require('acp.client')
local config = require('acp.config')
local question = require('acp.question')

local M = {}

---@class acp.HunkText
---@field old string[]
---@field new string[]
---@field drawn? table[][] The old lines as chunks of virtual text.
---@field words? acp.Words[] What differs within each line, where there are as many as before.

---@class acp.Words Bytes from 0, the end excluded; both parts may be empty.
---@field old [integer, integer]
---@field new [integer, integer]

---Bytes after which a line is cut on the screen, and a text is not parsed for its colours.
local MAX_LINE, MAX_PARSED = 1000, 200000
---After a virtual line, so that it looks like a line: wider than any window, which cuts it.
local FILL = (' '):rep(400)
---Lines of a hunk that are compared with each other by what differs within them.
local MAX_WORDS = 50

---@type table<string, acp.HunkText>
local texts = {}
---@type table<string, true|'again'> What is being asked, by session and file.
local asking = {}
---@type table<string, boolean> Files in which a lone `\r` ends a line.
local lone_returns = {}

---@param hunk acp.Hunk
---@return string
local function key_of(hunk)
  return table.concat({ hunk.session, hunk.id, hunk.before.lines, hunk.after.lines }, '\0')
end

---The lines of a text, ended by `\n`, `\r\n` or `\r` as in LSP.
---@param text string
---@return string[]
function M.split(text)
  if text:find('\r', 1, true) then
    text = text:gsub('\r\n', '\n'):gsub('\r', '\n')
  end
  local lines = vim.split(text, '\n', { plain = true })
  if lines[#lines] == '' then
    lines[#lines] = nil
  end
  return lines
end

---@param text string
---@return string
local function plainly(text)
  if not text:find('[^ -~\t]') then
    return text
  end
  return (text:gsub('[^\t]+', question.plainly))
end

---A line that can be shown: cut, and with nothing hidden in it.
---@param line string
---@return string
function M.shown(line)
  if #line > MAX_LINE then
    line = line:sub(1, MAX_LINE + vim.str_utf_start(line, MAX_LINE + 1)) .. '…'
  end
  return plainly(line)
end

---@alias acp.Captures table<integer, table<integer, string>> By line and byte, both 0-based.

---Parses a text once; gives the capture of each byte of some of its lines, the last one where
---there are several.
---@param text string
---@param name string
---@return (fun(start: integer, count: integer): acp.Captures)? # Nil where there is no parser.
local function parse(text, name)
  if #text > MAX_PARSED then
    return nil
  end
  local filetype = vim.filetype.match({ filename = name }) or ''
  local lang = vim.treesitter.language.get_lang(filetype) or filetype
  if lang == '' or not vim.treesitter.language.add(lang) then
    return nil
  end
  local query = vim.treesitter.query.get(lang, 'highlights')
  local tree = (vim.treesitter.get_string_parser(text, lang):parse() or {})[1]
  if not query or not tree then
    return nil
  end
  return function(start, count)
    local found = {}
    for id, node in query:iter_captures(tree:root(), text, start, start + count) do
      local capture = query.captures[id]
      local row, col, end_row, end_col = node:range()
      if not vim.startswith(capture, '_') and capture ~= 'spell' and capture ~= 'nospell' then
        for line = math.max(row, start), math.min(end_row, start + count - 1) do
          found[line] = found[line] or {}
          local last = line == end_row and end_col or MAX_LINE
          for byte = line == row and col or 0, math.min(last, MAX_LINE) - 1 do
            found[line][byte] = ('@%s.%s'):format(capture, lang)
          end
        end
      end
    end
    return found
  end
end

---What differs between two lines, as one stretch; none where hardly anything is the same.
---@param old string
---@param new string
---@return acp.Words
local function differing(old, new)
  local most = math.min(#old, #new, MAX_LINE)
  local head, tail = 0, 0
  while head < most and old:byte(head + 1) == new:byte(head + 1) do
    head = head + 1
  end
  while tail < most - head and old:byte(#old - tail) == new:byte(#new - tail) do
    tail = tail + 1
  end
  -- Whole characters only.
  head = head + (head < #old and vim.str_utf_start(old, head + 1) or 0)
  while tail > 0 and vim.str_utf_start(old, #old - tail + 1) ~= 0 do
    tail = tail - 1
  end
  if 3 * (head + tail) < math.max(#old, #new) then
    return { old = { 0, 0 }, new = { 0, 0 } }
  end
  return { old = { head, #old - tail }, new = { head, #new - tail } }
end

---@param line string
---@param hl string
---@param of? table<integer, string>
---@param word? [integer, integer] The bytes that differ.
---@return table[]
local function chunks(line, hl, of, word)
  local shown = M.shown(line)
  local parts = {}
  if shown ~= line or not (of or word) then
    parts[1] = { shown, hl }
  else
    of = of or {}
    local function is_word(byte)
      return word ~= nil and byte >= word[1] and byte < word[2]
    end
    local from = 0
    for byte = 1, #line do
      if byte == #line or of[byte] ~= of[from] or is_word(byte) ~= is_word(from) then
        local groups = { is_word(from) and 'AcpOldText' or hl, of[from] }
        parts[#parts + 1] = { line:sub(from + 1, byte), #groups > 1 and groups or groups[1] }
        from = byte
      end
    end
  end
  parts[#parts + 1] = { FILL, hl }
  return parts
end

---Lines as virtual lines; not all of a very long hunk.
---@param lines string[]
---@param hl string
---@param of? acp.Captures
---@param start? integer The number of the first line in `of`.
---@param words? acp.Words[]
---@return table[][]
function M.draw(lines, hl, of, start, words)
  local drawn = {}
  local most = config.get().review.max_lines
  for index = 1, math.min(#lines, most) do
    local captures = of and of[(start or 0) + index - 1]
    drawn[index] = chunks(lines[index], hl, captures, words and words[index].old)
  end
  if #lines > most then
    local more = ('… %d more lines (see :Acp diff)'):format(#lines - most)
    drawn[#drawn + 1] = { { more, { hl, 'AcpNote' } } }
  end
  return drawn
end

---Whether the sidecar counts more lines in the file than Neovim does.
---@param name string
---@return boolean
function M.has_lone_returns(name)
  return lone_returns[name] or false
end

---@param text string
---@return boolean
local function is_open(text)
  return text ~= '' and not text:find('[\r\n]$')
end

---@class acp.BothTexts
---@field old string[]
---@field new string[]
---@field captures fun(start: integer, count: integer): acp.Captures? Of old lines.
---@field ending? string What to say of the old text's end, where the new one ends differently.

---@param hunk acp.Hunk
---@param all acp.BothTexts
local function keep(hunk, all)
  local from, span = hunk.before, hunk.after
  local kept = {
    old = vim.list_slice(all.old, from.start + 1, from.start + from.lines),
    new = vim.list_slice(all.new, span.start + 1, span.start + span.lines),
  }
  local known = texts[key_of(hunk)]
  if known and vim.deep_equal(known.old, kept.old) and vim.deep_equal(known.new, kept.new) then
    return
  end
  if from.lines > 0 then
    local shown = math.min(from.lines, config.get().review.max_lines)
    local of = all.captures(from.start, shown)
    if hunk.kind == 'changed' and #kept.old == #kept.new and #kept.old <= MAX_WORDS then
      kept.words = {}
      for index, line in ipairs(kept.old) do
        kept.words[index] = differing(line, kept.new[index])
      end
    end
    kept.drawn = M.draw(kept.old, 'AcpOldLine', of, from.start, kept.words)
    if all.ending and from.start + from.lines == #all.old then
      table.insert(kept.drawn[#kept.drawn], 2, { '  ' .. all.ending, { 'AcpOldLine', 'AcpNote' } })
    end
  end
  texts[key_of(hunk)] = kept
end

---@param hunk acp.Hunk
---@return acp.HunkText?
function M.get(hunk)
  if hunk.proposed then
    local known = texts[key_of(hunk)]
    if not known then
      known = { old = {}, new = M.split(hunk.text or '') }
      known.drawn = M.draw(known.new, 'AcpProposedLine')
      texts[key_of(hunk)] = known
    end
    return known
  end
  return texts[key_of(hunk)]
end

---@param file acp.ChangedFile
---@param session string
---@return acp.Hunk[]
local function hunks_of(file, session)
  return vim.tbl_filter(function(hunk)
    return hunk.session == session and not hunk.proposed
  end, file.hunks)
end

---@param name string
---@param session string
---@param callback fun()
local function ask(name, session, callback)
  local key = session .. '\0' .. name
  if asking[key] then
    asking[key] = 'again'
    return
  end
  local file = changes.of(name)
  if not file then
    return
  end
  asking[key] = true
  local argument = { uri = file.uri, sessionId = session, proposed = false }
  client.execute('acp.review.diff', argument, function(err, result)
    local again = asking[key] == 'again'
    asking[key] = nil
    file = changes.of(name)
    if err or not file then
      return -- nothing waits there any more
    end
    local hunks = hunks_of(file, session)
    local parsed, captures = false, nil
    lone_returns[name] = result.after:find('\r[^\n]') ~= nil
    local ending
    if is_open(result.before) ~= is_open(result.after) and result.after ~= '' then
      ending = is_open(result.before) and '(no newline at the end)' or '(a newline at the end)'
    end
    local all = {
      ending = ending,
      old = M.split(result.before),
      new = M.split(result.after),
      captures = function(start, count)
        if not parsed then -- only where a hunk is new, and once for all of them
          parsed, captures = true, parse(result.before, name)
        end
        return captures and captures(start, count)
      end,
    }
    local grown = 0
    for _, hunk in ipairs(hunks) do
      grown = grown + hunk.after.lines - hunk.before.lines
    end
    -- Else the file has moved on: other hunks will be told, and it is asked again.
    if #all.new - #all.old == grown then
      for _, hunk in ipairs(hunks) do
        keep(hunk, all)
      end
      callback()
    end
    if again then
      ask(name, session, callback)
    end
  end)
end

---Asks for what is not known yet of a file's hunks; calls back where that brings something.
---@param file acp.ChangedFile
---@param callback fun()
function M.want(file, callback)
  local sessions = {}
  for _, hunk in ipairs(file.hunks) do
    -- The lines of a conflict may be others under the same id.
    local is_open = not hunk.proposed and (hunk.conflict or not texts[key_of(hunk)])
    if is_open and hunk.before.lines + hunk.after.lines > 0 then
      sessions[hunk.session] = true
    end
  end
  for session in pairs(sessions) do
    ask(file.name, session, callback)
  end
end

---Forgets the texts of hunks that wait no more.
function M.prune()
  local waiting = {}
  for _, file in ipairs(changes.files()) do
    for _, hunk in ipairs(file.hunks) do
      waiting[key_of(hunk)] = true
    end
  end
  for key in pairs(texts) do
    if not waiting[key] then
      texts[key] = nil
    end
  end
end

return M
