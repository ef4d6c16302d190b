import { browserStore } from '#lib/browser/frame/saved-list.ts'

export interface AlertSettings {
  notifications: boolean
  sound: boolean
}

const key = 'devdeck.alert-settings'
const off: AlertSettings = { notifications: false, sound: false }
const listeners = new Set<() => void>()
/** The parsed settings are cached so that `read` returns a stable object. */
let cached: { text: string | null; settings: AlertSettings } = { text: null, settings: off }

export const alertSettings = {
  read: (): AlertSettings => {
    const text = browserStore()?.getItem(key) ?? cached.text
    if (text !== cached.text) cached = { text, settings: parse(text) }
    return cached.settings
  },
  onServer: (): AlertSettings => off,
  change: (change: Partial<AlertSettings>): void => {
    const settings = { ...alertSettings.read(), ...change }
    cached = { text: JSON.stringify(settings), settings }
    browserStore()?.setItem(key, JSON.stringify(settings))
    for (const listener of listeners) listener()
  },
  subscribe: (listener: () => void): (() => void) => {
    listeners.add(listener)
    window.addEventListener('storage', listener)
    return () => {
      listeners.delete(listener)
      window.removeEventListener('storage', listener)
    }
  },
}

const parse = (text: string | null): AlertSettings => {
  try {
    const { notifications, sound } = JSON.parse(text ?? '{}') as Record<string, unknown>
    return { notifications: notifications === true, sound: sound === true }
  } catch {
    return off
  }
}

/** Plays two short tones. Rejects if the browser blocks sound, as it does before the first click on the page. */
export const playAlertSound = async (): Promise<void> => {
  const context = new AudioContext()
  try {
    if (context.state !== 'running') await Promise.race([context.resume(), blockedAfter(1_000)])
    const startS = context.currentTime
    for (const [at, hertz] of [
      [0, 880],
      [0.18, 660],
    ] as const) {
      const tone = context.createOscillator()
      const volume = context.createGain()
      tone.frequency.value = hertz
      volume.gain.setValueAtTime(0.2, startS + at)
      volume.gain.exponentialRampToValueAtTime(0.001, startS + at + 0.16)
      tone.connect(volume).connect(context.destination)
      tone.start(startS + at)
      tone.stop(startS + at + 0.17)
    }
    await new Promise((resolve) => setTimeout(resolve, 500))
  } finally {
    await context.close()
  }
}

const blockedAfter = (ms: number) =>
  new Promise<never>((_, reject) =>
    setTimeout(() => reject(new Error('The browser blocks sound until you click on this page')), ms),
  )
