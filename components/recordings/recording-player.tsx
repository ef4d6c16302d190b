'use client'
import type { ITerminalInitOnlyOptions, ITerminalOptions } from '@xterm/xterm'
import { Pause, Play, RotateCcw } from 'lucide-react'
import { type KeyboardEvent, type ReactNode, type RefObject, useEffect, useMemo, useRef, useState } from 'react'
import { onThemeChange, terminalTheme } from '#components/terminal/pane/terminal-theme.ts'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { Check } from '#components/ui/choice/check.tsx'
import { ErrorState } from '#components/ui/error-state.tsx'
import { Select } from '#components/ui/select.tsx'
import { formatClock, formatCountOf } from '#lib/browser/format.ts'
import { type Cast, parseCast } from '#lib/terminal/recording/asciicast.ts'
import { RecordingPlayer as Player, type PlayerState } from '#lib/terminal/recording/player.ts'

const speeds = [0.5, 1, 2, 4, 8]
const defaultMaxPauseMs = 2_000
const jumpMs = 5_000
const [smallestFont, largestFont] = [6, 13]
/** Cell width of the mono font per pixel of font size. */
const cellRatio = 0.6

interface RecordingPlayerProps {
  /** The text of an asciicast file. */
  text: string
  note?: ReactNode
  /** Plays as soon as it is loaded. */
  autoPlay?: boolean
}

export const RecordingPlayer = ({ text, note, autoPlay = true }: RecordingPlayerProps) => {
  const cast = useMemo(() => attempt(() => parseCast(text)), [text])
  if (cast instanceof Error) return <ErrorState title="The recording can't be played" error={cast} />
  return <CastPlayer cast={cast} note={note} autoPlay={autoPlay} />
}

const attempt = <T,>(run: () => T): T | Error => {
  try {
    return run()
  } catch (error) {
    return error as Error
  }
}

/** Plays a recording at its original size. */
const CastPlayer = ({ cast, note, autoPlay }: { cast: Cast; note: ReactNode; autoPlay: boolean }) => {
  const element = useRef<HTMLDivElement>(null)
  const { player, state, failure } = usePlayer(cast, element, autoPlay)
  const [speed, setSpeed] = useState(1)
  if (failure)
    return (
      <Banner tone="danger" role="alert" title="The player could not be loaded">
        {failure}
      </Banner>
    )
  const changeSpeed = (next: number | undefined) => {
    if (next === undefined || !player) return
    setSpeed(next)
    player.speed = next
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const { target, key } = event
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (!(target instanceof HTMLElement) || target.matches('button, select, input[type=checkbox]')) return
    const actions: Record<string, () => void> = {
      ' ': () => (state.isPlaying ? player?.pause() : player?.play()),
      ArrowLeft: () => player?.seek(state.atMs - jumpMs),
      ArrowRight: () => player?.seek(state.atMs + jumpMs),
      '<': () => changeSpeed(speeds[speeds.indexOf(speed) - 1]),
      '>': () => changeSpeed(speeds[speeds.indexOf(speed) + 1]),
    }
    const action = actions[key]
    if (!action) return
    event.preventDefault()
    action()
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: handles keys for everything inside
    <div onKeyDown={onKeyDown} className="overflow-hidden rounded-lg border border-line">
      <section
        aria-label="Recorded screen"
        title="Space plays or pauses, ← and → jump 5 s, < and > change the speed"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: takes the player's keys, and scrolls
        tabIndex={0}
        className="overflow-auto bg-surface-0 p-2 -outline-offset-2"
      >
        <div ref={element} className="min-h-40 font-mono" />
      </section>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2 border-t border-line bg-surface-1 px-3 py-2">
        <PlayButton player={player} state={state} />
        <Position player={player} state={state} />
        <Select
          aria-label="Speed"
          value={String(speed)}
          options={speeds.map((each) => ({ value: String(each), label: `${each} ×` }))}
          onChange={({ target }) => changeSpeed(Number(target.value))}
        />
        <Pauses player={player} maxPauseMs={cast.maxPauseMs ?? defaultMaxPauseMs} />
      </div>
      {(note || cast.skippedEvents > 0) && (
        <p role="status" className="border-t border-line px-3 py-2 text-sm text-muted">
          {note} {cast.skippedEvents > 0 && damageOf(cast)}
        </p>
      )}
    </div>
  )
}

const damageOf = ({ events, skippedEvents }: Cast): string =>
  `The file is damaged: ${formatCountOf(skippedEvents, 'event')} could not be read. ${
    events.length === 0 ? 'Nothing can be played.' : `The rest plays, up to ${formatClock(events.at(-1)?.atMs ?? 0)}.`
  }`

const usePlayer = (cast: Cast, element: RefObject<HTMLElement | null>, autoPlay: boolean) => {
  const [player, setPlayer] = useState<Player>()
  const [state, setState] = useState<PlayerState>({ isPlaying: false, atMs: 0, durationMs: 0 })
  const [failure, setFailure] = useState<string>()
  useEffect(() => {
    let isCanceled = false
    let close = () => {}
    const start = async (into: HTMLElement) => {
      const { Terminal } = await import('@xterm/xterm')
      const { fontFamily } = getComputedStyle(into)
      await document.fonts.load(`${largestFont}px ${fontFamily}`).catch(() => undefined)
      if (isCanceled) return
      const terminal = new Terminal(optionsOf(cast, into))
      terminal.open(into)
      // The terminal takes no keys, so keep it out of the tab order.
      into.querySelector('textarea')?.setAttribute('tabindex', '-1')
      const stopFollowing = onThemeChange(() => {
        terminal.options.theme = terminalTheme()
      })
      const created = new Player(cast, terminal, setState, cast.maxPauseMs ?? defaultMaxPauseMs)
      setPlayer(created)
      if (autoPlay) created.play()
      else created.seek(0)
      close = () => {
        stopFollowing()
        created.close()
        terminal.dispose()
      }
    }
    if (element.current) start(element.current).catch((error: unknown) => setFailure(String(error)))
    return () => {
      isCanceled = true
      close()
    }
  }, [cast, element, autoPlay])
  return { player, state, failure }
}

const optionsOf = (cast: Cast, into: HTMLElement): ITerminalOptions & ITerminalInitOnlyOptions => ({
  cols: cast.cols,
  rows: cast.rows,
  fontFamily: getComputedStyle(into).fontFamily,
  fontSize: Math.min(largestFont, Math.max(smallestFont, Math.floor(into.clientWidth / (cast.cols * cellRatio)))),
  lineHeight: 1.25,
  scrollback: 2_000,
  disableStdin: true,
  cursorBlink: false,
  minimumContrastRatio: 4.5,
  theme: terminalTheme(),
  linkHandler: { activate: () => undefined },
})

interface PlayerPartProps {
  player: Player | undefined
  state: PlayerState
}

const PlayButton = ({ player, state: { isPlaying, atMs, durationMs } }: PlayerPartProps) => {
  const hasEnded = !isPlaying && durationMs > 0 && atMs >= durationMs
  return (
    <Button
      size="sm"
      variant="primary"
      icon={isPlaying ? Pause : hasEnded ? RotateCcw : Play}
      disabledReason={player ? null : 'the player is loading'}
      onClick={() => (isPlaying ? player?.pause() : player?.play())}
    >
      {isPlaying ? 'Pause' : hasEnded ? 'Play again' : 'Play'}
    </Button>
  )
}

const Position = ({ player, state: { atMs, durationMs } }: PlayerPartProps) => (
  <>
    <input
      type="range"
      aria-label="Position"
      aria-valuetext={`${formatClock(atMs)} of ${formatClock(durationMs)}`}
      min={0}
      max={Math.max(1, Math.round(durationMs))}
      step={1}
      value={Math.round(atMs)}
      onChange={({ target }) => player?.seek(Number(target.value))}
      className="h-6 min-w-40 flex-1 accent-(--accent)"
    />
    <span className="tabular text-sm text-muted">
      {formatClock(atMs)} of {formatClock(durationMs)}
    </span>
  </>
)

const Pauses = ({ player, maxPauseMs }: Pick<PlayerPartProps, 'player'> & { maxPauseMs: number }) => {
  const [isShortened, setIsShortened] = useState(true)
  return (
    <Check
      small
      label={`Shorten pauses to ${maxPauseMs / 1000} s`}
      checked={isShortened}
      onCheck={(isOn) => {
        setIsShortened(isOn)
        if (player) player.maxPauseMs = isOn ? maxPauseMs : Number.POSITIVE_INFINITY
      }}
    />
  )
}
