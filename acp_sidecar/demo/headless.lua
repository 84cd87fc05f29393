-- The person of a headless demonstration: watches, answers with keys, reports a line for
-- each thing that happens, and exits with 0 only where all of them did.
local BOUND = 60000
local ANSWER = 'Yes'

vim.o.columns, vim.o.lines = 160, 45

---What must have happened by the end, by the line that reports it.
local expected = {
  ['session    demo'] = true,
  ['reveal     greeting.py:5'] = true,
  ['reveal     demo%-notes/note%-1.md:1'] = true,
  ['not shown  %(outside%)'] = true,
  ['dialog     demo asks: edit'] = true,
  ['answer     ' .. ANSWER .. '$'] = true,
  ['edit       greeting.py modified'] = true,
  ['edit       demo%-notes/note%-1.md created'] = true,
  ['command    .*done'] = true,
  ['turn       end_turn'] = true,
}

---@param what string
---@param text string
local function report(what, text)
  local line = ('%-10s %s'):format(what, text)
  io.stdout:write(line, '\n')
  io.stdout:flush()
  for pattern in pairs(expected) do
    if line:find(pattern) then
      expected[pattern] = nil
    end
  end
end

local function leave()
  for pattern in vim.spairs(expected) do
    io.stderr:write('missing: ', pattern, '\n')
  end
  vim.cmd(next(expected) and 'cquit 1' or 'qall!')
end

---@param path string
---@param line? integer
---@return string
local function place(path, line)
  return vim.fn.fnamemodify(path, ':.') .. (line and ':' .. line or '')
end

---@param name string
---@param callback fun(data: table)
local function on(name, callback)
  vim.api.nvim_create_autocmd('User', {
    pattern = 'Acp' .. name,
    callback = function(args)
      callback(args.data)
    end,
  })
end

on('Session', function(data)
  report('session', ('%s, protocol version %d'):format(data.agent, data.protocolVersion))
end)

on('Reveal', function(data)
  local where = place(vim.uri_to_fname(data.uri), data.line)
  report(data.shown and 'reveal' or 'not shown', data.shown and where or data.reason)
end)

on('Follow', function(data)
  if not data.shown and data.location and data.reason ~= 'waiting' then
    report('not shown', ('(%s) %s'):format(data.reason, place(data.location.path, data.location.line)))
  end
end)

on('PermissionAsked', function(data)
  report('dialog', data.head .. ': ' .. table.concat(data.options, ' / '))
  vim.defer_fn(function()
    vim.api.nvim_input('<Esc>:Acp permission<CR>')
  end, 200)
end)

on('PermissionEntered', function()
  local options = require('acp.permission').waiting()[1].options
  for number, option in ipairs(options) do
    if option.title == ANSWER then
      vim.api.nvim_input(number .. '<CR>')
    end
  end
end)

on('PermissionAnswered', function(data)
  report('answer', data.title)
end)

local seen = {}
on('Changes', function(data)
  for _, change in ipairs(data.changes) do
    local hunks = #change.hunks
    local line = ('%s %s'):format(place(vim.uri_to_fname(change.uri)), change.status)
    if hunks > 0 then
      line = line .. (', %d %s'):format(hunks, hunks == 1 and 'place' or 'places')
    end
    if not seen[line] then
      seen[line] = true
      report('edit', line)
    end
  end
end)

on('TurnEnded', function(data)
  -- What changed last may be told a moment after the turn.
  vim.defer_fn(function()
    local win = require('acp.transcript').show(data.sessionId)
    local lines = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(win), 0, -1, false)
    local output = table.concat(lines, '\n'):match('\n✓ Count lines\n(.-)\n\n') or 'no output'
    report('command', (vim.trim(output):gsub('%s*\n%s*', ', ')))
    report('turn', data.stopReason or data.error or 'no end')
    leave()
  end, 1000)
end)

on('Error', function(data)
  report('error', data.message)
  leave()
end)

on('Exit', function(data)
  report('sidecar', ('ended with exit code %d'):format(data.code))
end)

vim.defer_fn(leave, BOUND)
