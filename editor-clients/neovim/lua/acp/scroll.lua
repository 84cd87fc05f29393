---Scrolls so far that virtual lines at the ends of a buffer are seen.
local M = {}

local lines = vim.api.nvim_create_namespace('acp.lines')

---Over the first line of a buffer virtual lines are only seen where the window scrolls there.
---@param buf integer
function M.above_first(buf)
  local height = 0
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buf, lines, 0, { 0, -1 }, { details = true })) do
    height = height + (mark[4].virt_lines_above and #mark[4].virt_lines or 0)
  end
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    vim.api.nvim_win_call(win, function()
      if vim.fn.line('w0') == 1 then
        local room = vim.api.nvim_win_get_height(win) - vim.fn.winline()
        vim.fn.winrestview({ topfill = math.max(0, math.min(height, room)) })
      end
    end)
  end
end

---Scrolls on where the cursor is on the last line and virtual lines follow it.
function M.below_last()
  local last = vim.api.nvim_buf_line_count(0) - 1
  local height = 0
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, lines, { last, 0 }, -1, { details = true })) do
    local below = mark[4].virt_lines and not mark[4].virt_lines_above
    height = height + (below and #mark[4].virt_lines or 0)
  end
  local hidden = vim.fn.winline() + height - vim.api.nvim_win_get_height(0)
  hidden = math.min(hidden, vim.fn.winline() - 1)
  if hidden > 0 then
    vim.cmd(('normal! %d\5'):format(hidden))
  end
end

return M
