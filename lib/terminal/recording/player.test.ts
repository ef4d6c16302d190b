import headless from '@xterm/headless'
import { expect, it } from 'vitest'
import { parseCast } from './asciicast.ts'
import { type PlayerState, RecordingPlayer } from './player.ts'

const lines = (...events: [number, string, string][]) =>
  ['{"version":2,"width":20,"height":4}', ...events.map((event) => JSON.stringify(event))].join('\n')

const playerOf = (text: string, maxPauseMs = Number.POSITIVE_INFINITY) => {
  const terminal = new headless.Terminal({ cols: 80, rows: 24, allowProposedApi: true })
  const states: PlayerState[] = []
  const player = new RecordingPlayer(parseCast(text), terminal, (state) => states.push(state), maxPauseMs)
  const screen = async () => {
    await new Promise<void>((resolve) => terminal.write('', resolve))
    const { active } = terminal.buffer
    return Array.from({ length: active.length }, (_, y) => active.getLine(y)?.translateToString(true))
      .join('\n')
      .trim()
  }
  return { player, terminal, screen, states }
}

const sample = lines([1, 'o', 'one'], [2, 'r', '30x5'], [3, 'o', ' two'], [600, 'o', '\r\nthree'])

it('seeks forward and backward', async () => {
  const { player, terminal, screen } = playerOf(sample)
  player.seek(1_500)
  expect([await screen(), terminal.cols]).toEqual(['one', 20])
  player.seek(600_000)
  expect([await screen(), terminal.cols]).toEqual(['one two\nthree', 30])
  player.seek(2_500)
  expect([await screen(), terminal.cols]).toEqual(['one', 30])
  player.seek(0)
  expect([await screen(), terminal.cols]).toEqual(['', 20])
})

it('ends at the last requested position', async () => {
  const { player, screen } = playerOf(sample)
  for (const atMs of [600_000, 500, 3_000]) player.seek(atMs)
  expect(await screen()).toBe('one two')
})

it('plays to the end and stops', async () => {
  const { player, screen, states } = playerOf(sample, 50)
  player.speed = 16
  player.play()
  await expect.poll(() => states.at(-1)?.isPlaying === false && states.at(-1)?.atMs).toBe(player.durationMs)
  await expect.poll(screen).toBe('one two\nthree')
})
