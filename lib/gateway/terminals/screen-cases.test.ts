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

const open = async (name: string, query = '') => {
  const { gateway, cookie, devboxId } = started
  const page = new TestPage(gateway, `/api/terminals/${devboxId}/${name}?cols=80&rows=24${query}`, { cookie })
  await page.told({ t: 'people' })
  return page
}
const killed = `bash -c 'printf "\\e[?1049h\\e[?1003h\\e[?1006h\\e[?25l\\e[?1h\\e=RUNNING"; kill -9 $$'`
const plain = { isOnOwnScreen: false, mouse: 'NONE', isCursorHidden: false, applicationCursorKeys: false }

it('resets the modes of a killed program at the prompt, on every page and after a reload (case 05)', async () => {
  const page = await open('killed')
  await page.shows(/[$#] /)
  page.type(`echo before; ${killed}\n`)
  await until(() =>
    expect(screenOf(page)).toMatchObject({ ...plain, text: expect.stringMatching(/Killed.*\n.*[$#]$/) }),
  )
  expect(screenOf(page).text).toMatch(/\nbefore\n.*Killed/)
  const reloaded = await open('killed')
  await until(() => expect(reloaded.lastSnapshot).toBeDefined())
  expect(screenOf(reloaded)).toEqual(screenOf(page))
  await page.leave()
  await reloaded.leave()
})

it('resets the terminal for all pages on request if the shell sends no marks', async () => {
  const page = await open('reset')
  await page.shows(/[$#] /)
  page.type('exec bash --norc --noprofile --noediting\n')
  await until(() => expect(screenOf(page).text).toMatch(/bash-\S+[$#]$/))
  const watcher = await open('reset')
  page.type(`echo before; ${killed}\n`)
  await until(() => expect(screenOf(page)).toMatchObject({ isOnOwnScreen: true, mouse: 'ANY', isCursorHidden: true }))
  await until(() => expect(screenOf(page).text).toMatch(/Killed/))
  const { epoch } = page
  watcher.ask({ t: 'reset' })
  await watcher.told({ t: 'problem', code: 'conflict' })
  page.ask({ t: 'reset' })
  for (const each of [page, watcher]) {
    await until(() => expect(screenOf(each)).toMatchObject({ ...plain, text: expect.not.stringContaining('before') }))
    // The old screen is in the scrollback.
    expect(String(each.lastSnapshot)).toContain('before')
  }
  page.type('echo af""ter\n')
  for (const each of [page, watcher]) await until(() => expect(screenOf(each).text).toMatch(/\nafter\n/))
  const back = await open('reset', `&epoch=${epoch}&since=0`)
  expect(back.last('ready')?.from).toBe('snapshot')
  await until(() => expect(screenOf(back).text).toMatch(/\nafter\n/))
  expect(screenOf(back)).toMatchObject(plain)
  expect(String(back.lastSnapshot)).toContain('before')

  page.ask({ t: 'clear_scrollback' })
  for (const each of [page, watcher, back]) {
    await until(() => expect(String(each.lastSnapshot)).not.toContain('before'))
    expect(screenOf(each).text).toMatch(/\nafter\n/)
  }
})

it('shows the edited command line as it would run, whatever the width of its characters (case 06)', async () => {
  const page = await open('widths')
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
