---The maps that are set where the user asks for them (|acp-keymaps|).
local M = {}

---@type table<string, { [1]: string, [2]: string[] }> By the name of the <Plug> map: keys, modes.
M.defaults = {
  ['next-hunk'] = { ']h', { 'n', 'x' } },
  ['prev-hunk'] = { '[h', { 'n', 'x' } },
  ['select-hunk'] = { 'ih', { 'o', 'x' } },
  ['keep-hunk'] = { '<Leader>ak', { 'n', 'x' } },
  ['revert-hunk'] = { '<Leader>ar', { 'n', 'x' } },
  ['keep-file'] = { '<Leader>aK', { 'n' } },
  ['revert-file'] = { '<Leader>aR', { 'n' } },
  ['undo'] = { '<Leader>au', { 'n' } },
  ['preview-hunk'] = { '<Leader>ah', { 'n' } },
  ['lines'] = { '<Leader>al', { 'n' } },
  ['changes'] = { '<Leader>ac', { 'n' } },
  ['diff'] = { '<Leader>ad', { 'n' } },
  ['prompt'] = { '<Leader>aa', { 'n', 'x' } },
  ['permission'] = { '<Leader>ap', { 'n' } },
}

---@type { mode: string, lhs: string }[]
local set = {}

---The keys that something else was mapped to since.
---@return string[]
function M.taken()
  local taken = {}
  for _, map in ipairs(set) do
    local now = vim.fn.maparg(map.lhs, map.mode)
    if not vim.startswith(now, '<Plug>(acp-') and not vim.tbl_contains(taken, map.lhs) then
      taken[#taken + 1] = map.lhs
    end
  end
  return taken
end

---Sets the maps, and removes those set before.
---@param given boolean|table<string, string|false> Keys by name, in place of the defaults.
function M.apply(given)
  for _, map in ipairs(set) do
    pcall(vim.keymap.del, map.mode, map.lhs)
  end
  set = {}
  if not given then
    return
  end
  for name, default in pairs(M.defaults) do
    local lhs = default[1] ---@type string|false
    if type(given) == 'table' and given[name] ~= nil then
      lhs = given[name]
    end
    for _, mode in ipairs(lhs and default[2] or {}) do
      vim.keymap.set(mode, lhs --[[@as string]], ('<Plug>(acp-%s)'):format(name), {
        remap = true,
        desc = 'acp: ' .. name:gsub('-', ' '),
      })
      set[#set + 1] = { mode = mode, lhs = lhs --[[@as string]] }
    end
  end
end

return M
