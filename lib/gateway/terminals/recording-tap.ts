import type { TerminalNotice } from '#lib/protocol/terminals.ts'
import { HttpError } from '../http/handle-request.ts'
import { logError } from '../observability/log.ts'
import { TerminalRecording } from './recordings.ts'
import type { ShellOutput } from './shell-output.ts'
import type { Size } from './size-keeper.ts'

interface Tapped {
  account_id: string
  devbox_id: string
  name: string
  devboxName(): Promise<string | undefined>
  changed(notice: RecordingNotice): void
}

type RecordingNotice = Extract<TerminalNotice, { t: 'recording' }>

export class RecordingTap {
  readonly #output: ShellOutput
  readonly #tapped: Tapped
  #recording: TerminalRecording | undefined
  #isStarting = false
  #isWanted = false
  /** Output that arrived while the initial screen was being captured. */
  #held: Uint8Array[] | undefined

  constructor(output: ShellOutput, tapped: Tapped) {
    this.#output = output
    this.#tapped = tapped
  }

  get id(): string | null {
    return this.#recording?.id ?? null
  }

  get notice(): RecordingNotice {
    if (!this.#recording) return { t: 'recording', id: null }
    return { t: 'recording', id: this.#recording.id, since_ms: this.#recording.sinceMs }
  }

  async turn(on: boolean): Promise<void> {
    this.#isWanted = on
    if (!on) this.end()
    else if (this.#recording) this.#tapped.changed(this.notice)
    else if (!this.#isStarting) await this.#start()
  }

  output(bytes: Uint8Array): void {
    if (this.#held) this.#held.push(bytes)
    else this.#recording?.output(bytes)
  }

  resize({ cols, rows }: Size): void {
    this.#recording?.resize(cols, rows)
  }

  mark(label: string): void {
    this.#recording?.mark(label)
  }

  end(message?: string): void {
    const recording = this.#recording
    this.#isWanted = false
    this.#recording = this.#held = undefined
    if (!recording) return
    void recording.end()
    this.#tapped.changed({ t: 'recording', id: null, ...(message === undefined ? {} : { message }) })
  }

  async #start(): Promise<void> {
    const { account_id, devbox_id, name, changed } = this.#tapped
    this.#isStarting = true
    try {
      const devbox_name = await this.#tapped.devboxName()
      const { size, title } = this.#output
      const start = { account_id, devbox_id, devbox_name, terminal: name, ...size, title }
      const recording = await TerminalRecording.start(start)
      if (!this.#isWanted) return void (await recording.end())
      this.#recording = recording
      recording.onFailure((message) => {
        if (this.#recording === recording) this.end(message)
      })
      this.#held = []
      this.#output.wholeScreen((bytes) => {
        if (this.#recording !== recording) return
        recording.output(bytes)
        for (const each of this.#held ?? []) recording.output(each)
        this.#held = undefined
      })
      changed(this.notice)
    } catch (error) {
      const isRefused = error instanceof HttpError
      if (!isRefused) logError('A recording could not be started', error)
      changed({ t: 'recording', id: null, message: isRefused ? error.message : 'The recording could not be started' })
    } finally {
      this.#isStarting = false
    }
  }
}
