/** How this browser makes alerts heard, beside what its pages show. Kept for all of its tabs. */
export interface AlertSettings {
  notifications: boolean
  sound: boolean
}

const key = 'devdeck.alert-settings'
const off: AlertSettings = { notifications: false, sound: false }
const listeners = new Set<() => void>()
let known: { text: string | null; settings: AlertSettings } = { text: null, settings: off }

export const alertSettings = {
  read: (): AlertSettings => {
    const text = stored()
    if (text !== known.text) known = { text, settings: { ...off, ...parsed(text) } }
    return known.settings
  },
  onServer: (): AlertSettings => off,
  change: (change: Partial<AlertSettings>): void => {
    const next = { ...alertSettings.read(), ...change }
    try {
      localStorage.setItem(key, JSON.stringify(next))
    } catch {
      // Switched off or full: the choice lasts as long as the page.
      known = { text: stored(), settings: next }
    }
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

const stored = (): string | null => {
  try {
    return localStorage.getItem(key)
  } catch {
    return known.text
  }
}

const parsed = (text: string | null): Partial<AlertSettings> => {
  try {
    const value: unknown = JSON.parse(text ?? '{}')
    const { notifications, sound } = (value ?? {}) as Record<string, unknown>
    return { notifications: notifications === true, sound: sound === true }
  } catch {
    return {}
  }
}

/** Two short tones. Rejects where the browser does not allow sound yet: it wants a click on the page first. */
export const playAlertSound = async (): Promise<void> => {
  const context = new AudioContext()
  try {
    if (context.state !== 'running') await Promise.race([context.resume(), refusal()])
    const startS = context.currentTime
    for (const [at, hertz] of [
      [0, 880],
      [0.18, 660],
    ] as const) {
      const tone = context.createOscillator()
      const loudness = context.createGain()
      tone.frequency.value = hertz
      loudness.gain.setValueAtTime(0.2, startS + at)
      loudness.gain.exponentialRampToValueAtTime(0.001, startS + at + 0.16)
      tone.connect(loudness).connect(context.destination)
      tone.start(startS + at)
      tone.stop(startS + at + 0.17)
    }
    await new Promise((resolve) => setTimeout(resolve, 500))
  } finally {
    await context.close()
  }
}

const refusal = () =>
  new Promise<never>((_, reject) =>
    setTimeout(() => reject(new Error('The browser allows no sound before a click on this page')), 1_000),
  )
