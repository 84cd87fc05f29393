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

local plugs = {
  prompt = { { 'n', 'x' }, 'prompt', 'Write a prompt to the agent' },
  permission = { { 'n' }, 'permission', "Go to the agent's question" },
  transcript = { { 'n' }, 'transcript', 'Show the conversation' },
  cancel = { { 'n' }, 'cancel', 'Cancel the turn' },
  follow = { { 'n' }, 'follow', 'Follow the agent, or stop following' },
  review = { { 'n' }, 'review', 'List the changed files' },
  diff = { { 'n' }, 'diff', 'Compare this file with what it was' },
  keep = { { 'n' }, 'keep', "Keep the agent's changes of this file" },
  revert = { { 'n' }, 'revert', "Take back the agent's changes of this file" },
}
for name, plug in pairs(plugs) do
  local modes, command, desc = unpack(plug)
  vim.keymap.set(modes, ('<Plug>(acp-%s)'):format(name), (':Acp %s<CR>'):format(command), {
    silent = true,
    desc = desc,
  })
end
