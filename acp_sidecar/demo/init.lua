-- The init file of `acp-sidecar demo`: loads the client and sends the first prompt.
local demo = vim.json.decode(vim.env.ACP_DEMO, { luanil = { object = true } })

vim.opt.runtimepath:prepend(demo.plugin)
pcall(vim.cmd.helptags, demo.plugin .. '/doc') -- an installation may be read-only
vim.o.swapfile = false
vim.o.laststatus = 3
vim.o.number = true
vim.o.statusline = ' <Space>, a number and <CR> answer it | :qa! quits%<'
  .. ' | ]h next  \\ak keep  \\ar revert  \\au undo'
  .. ' | :Acp changes  diff  prompt | :h acp'
vim.keymap.set('n', '<Space>', '<Plug>(acp-permission)')

require('acp').setup({
  cmd = demo.command,
  default_agent = 'demo',
  keymaps = true,
  settings = demo.settings,
})

vim.api.nvim_create_autocmd('VimEnter', {
  once = true,
  callback = function()
    if demo.headless then
      dofile(demo.headless)
    end
    require('acp').prompt('Show me what you can do.')
  end,
})

-- Leave together: no process is to outlive the demonstration.
vim.api.nvim_create_autocmd('VimLeavePre', {
  callback = function()
    local client = require('acp.client').get()
    require('acp.client').stop()
    vim.wait(3000, function()
      return client == nil or vim.lsp.get_client_by_id(client.id) == nil
    end, 10)
  end,
})
