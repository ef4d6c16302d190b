import type { Page } from '@playwright/test'
import { expect } from './product.ts'

/** Scrollback and screen of the focused terminal. */
export const screenText = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const buffer = window.term?.buffer.active
    return Array.from({ length: buffer?.length ?? 0 }, (_, row) => buffer?.getLine(row)?.translateToString(true)).join(
      '\n',
    )
  })

export const untilText = (page: Page, pattern: RegExp): Promise<void> =>
  expect.poll(() => screenText(page), { intervals: [100] }).toMatch(pattern)

/** Resolves once the terminal has keyboard focus. */
export const untilFocused = (page: Page): Promise<void> =>
  expect(page.locator('.xterm-helper-textarea:focus')).toBeAttached()

/** Resolves once a focused shell shows its prompt. */
export const untilPrompt = async (page: Page): Promise<void> => {
  await untilText(page, /\$\s*$/)
  await expect(page.locator('[data-terminal]').first()).toBeAttached()
  await untilFocused(page)
}
