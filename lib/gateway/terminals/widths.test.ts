import { afterAll, beforeAll, expect, it } from 'vitest'
import { screenOf, startTerminals, TestPage, until } from './testing.ts'

let started: Awaited<ReturnType<typeof startTerminals>>
beforeAll(async () => {
  started = await startTerminals()
})
afterAll(async () => {
  await started.gateway.close()
  await started.service.close()
})

it('shows the edited command line as it would run, whatever the width of its characters', async () => {
  const { gateway, cookie, devboxId } = started
  const page = new TestPage(gateway, `/api/terminals/${devboxId}/widths?cols=80&rows=24`, { cookie })
  await page.told({ t: 'people' })
  await page.shows(/[$#] $/)
  for (const line of [
    'echo 🎉🎉 abcdefgh',
    'echo 🫠 🥹🫡🫶 abcdefgh',
    'echo a\u200eb\u200ec\u200ed abcdefgh',
    'echo a\u200bb\u2060c\u200bd abcdefgh',
    'echo ｶﾞｷﾞ abcdefgh',
    'echo 👩\u200d👩\u200d👧 👍🏽 ❤\ufe0f 🇩🇪 ๆก็ e\u0301 abcdefgh',
  ]) {
    // Ctrl-A, X, Ctrl-E, four Backspaces; Ctrl-C leaves the line on screen.
    page.type(line)
    await until(() => expect(screenOf(page).text).toContain(line.slice(-8)))
    page.type(`\x01X\x05${'\x7f'.repeat(4)}`)
    await until(() => expect(screenOf(page).text).toMatch(/[$#] Xecho .*abcd$/))
    expect(
      screenOf(page)
        .text.split('\n')
        .at(-1)
        ?.replace(/^.*?[$#] /, ''),
    ).toBe(`X${line.slice(0, -4)}`)
    page.type('\x03')
    await until(() => expect(screenOf(page).text).toMatch(/\^C\n.*[$#]$/))
  }
  await page.leave()
})
