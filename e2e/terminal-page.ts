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
  expect.poll(() => screenText(page), { intervals: [100] }).toMatch(pattern)

/** The keyboard is the terminal's: what is typed now reaches it. */
export const untilFocused = (page: Page): Promise<void> =>
  expect(page.locator('.xterm-helper-textarea:focus')).toBeAttached()

/** A shell waits for a command, and the terminal has the keyboard and all that belongs to it. */
export const untilPrompt = async (page: Page): Promise<void> => {
  await untilText(page, /\$\s*$/)
  await expect(page.locator('[data-terminal]').first()).toBeAttached()
  await untilFocused(page)
}
