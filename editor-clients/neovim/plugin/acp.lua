-- Defines :Acp and the <Plug> maps. Nothing is loaded or started before one is used.
if vim.g.loaded_acp then
  return
end
vim.g.loaded_acp = true

vim.api.nvim_create_user_command('Acp', function(opts)
  require('acp.commands').run(opts)
end, {
  nargs = '*',
  range = true,
  bang = true,
  desc = 'Talk to an agent (see :help acp)',
  complete = function(lead, line, column)
    return require('acp.commands').complete(lead, line, column)
  end,
})

---@param name string
---@param modes string[]
---@param rhs string|fun(): string?
---@param desc string
---@param is_expr? boolean
local function plug(name, modes, rhs, desc, is_expr)
  vim.keymap.set(modes, ('<Plug>(acp-%s)'):format(name), rhs, {
    silent = true,
    expr = is_expr,
    desc = desc,
  })
end

---@type [string, string[], string, string][] Name, modes, subcommand, description.
local commands = {
  { 'prompt', { 'n', 'x' }, 'prompt', 'Write a prompt to the agent' },
  { 'permission', { 'n' }, 'permission', "Go to the agent's question" },
  { 'transcript', { 'n' }, 'transcript', 'Show the conversation' },
  { 'cancel', { 'n' }, 'cancel', 'Cancel the turn' },
  { 'follow', { 'n' }, 'follow', 'Follow the agent, or stop following' },
  { 'review', { 'n' }, 'review', 'List the changed files' },
  { 'changes', { 'n' }, 'changes', "List the agent's changes" },
  { 'diff', { 'n' }, 'diff', 'Compare this file with what it was' },
  { 'keep', { 'n' }, 'keep', "Keep the agent's changes of this file" },
  { 'revert', { 'n' }, 'revert', "Take back the agent's changes of this file" },
  { 'keep-file', { 'n' }, 'keep file', "Keep the agent's changes of this file" },
  { 'revert-file', { 'n' }, 'revert file', "Take back the agent's changes of this file" },
  { 'keep-all', { 'n' }, 'keep all', "Keep all of the agent's changes" },
  { 'revert-all', { 'n' }, 'revert all', "Take back all of the agent's changes" },
  { 'keep-hunk', { 'x' }, 'keep hunk', "Keep the agent's changes of these lines" },
  { 'revert-hunk', { 'x' }, 'revert hunk', "Take back the agent's changes of these lines" },
  { 'undo', { 'n' }, 'undo', 'Take back the last keep or revert' },
  { 'preview-hunk', { 'n' }, 'preview', "Show the agent's change under the cursor" },
  { 'lines', { 'n' }, 'lines', 'Show the old lines, or hide them' },
  { 'checkpoints', { 'n' }, 'checkpoints', 'Bring the files back to an earlier prompt' },
}
for _, one in ipairs(commands) do
  local name, modes, command, desc = unpack(one)
  plug(name, modes, (':Acp %s<CR>'):format(command), desc)
end

-- Those that take a count or are repeated by `.`.
plug('next-hunk', { 'n', 'x' }, function()
  require('acp.motion').jump(1)
end, "Next change of the agent's")
plug('prev-hunk', { 'n', 'x' }, function()
  require('acp.motion').jump(-1)
end, "Previous change of the agent's")
plug('select-hunk', { 'o', 'x' }, function()
  require('acp.motion').select()
end, "The agent's change under the cursor")
for step, desc in pairs({ keep = 'Keep', revert = 'Take back' }) do
  plug(step .. '-hunk', { 'n' }, function()
    return require('acp.review').operator(step)
  end, desc .. " the agent's change under the cursor", true)
end
