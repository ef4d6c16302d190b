import type { Page } from '@playwright/test'
import { expect } from './product.ts'

/** All that the terminal of the page with the focus holds, scrollback and screen. */
export const screenText = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const buffer = window.term?.buffer.active
    return Array.from({ length: buffer?.length ?? 0 }, (_, row) => buffer?.getLine(row)?.translateToString(true)).join(
      '\n',
    )
  })

export const untilText = (page: Page, pattern: RegExp): Promise<void> =>
  expect.poll(() => screenText(page), { timeout: 30_000 }).toMatch(pattern)

/** A shell waits for a command, and the terminal has the keyboard and all that belongs to it. */
export const untilPrompt = async (page: Page): Promise<void> => {
  await untilText(page, /\$\s*$/)
  await expect(page.locator('[data-terminal]').first()).toBeAttached()
  await expect(page.locator('.xterm-helper-textarea:focus')).toBeAttached()
}
