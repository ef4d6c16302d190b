'use client'
import { useEffect, useState } from 'react'
import { terminalSettings } from '#lib/terminal/page/settings.ts'
import type { OpenedTerminal } from './opened-terminal.ts'

const flashMs = 300
/** Limits a continuous bell to twice a second. */
const quietMs = 500

export const Bell = ({ opened }: { opened: OpenedTerminal }) => {
  const [isLit, setIsLit] = useState(false)
  useEffect(() => {
    let lastAt = Number.NEGATIVE_INFINITY
    let timer: ReturnType<typeof setTimeout> | undefined
    const ring = opened.terminal.onBell(() => {
      const now = performance.now()
      if (now - lastAt < quietMs) return
      lastAt = now
      const { bell } = terminalSettings.get()
      if (bell === 'sound') soundTone()
      if (bell !== 'visual') return
      setIsLit(true)
      clearTimeout(timer)
      timer = setTimeout(() => setIsLit(false), flashMs)
    })
    return () => {
      ring.dispose()
      clearTimeout(timer)
    }
  }, [opened])
  return isLit && <div data-bell className="pointer-events-none absolute inset-0 z-10 border-2 border-attention" />
}

let audio: AudioContext | undefined

const soundTone = () => {
  try {
    audio ??= new AudioContext()
    const tone = new OscillatorNode(audio, { frequency: 660 })
    const gain = new GainNode(audio, { gain: 0.06 })
    tone.connect(gain).connect(audio.destination)
    // Fades out to avoid a click.
    gain.gain.setTargetAtTime(0, audio.currentTime + 0.05, 0.02)
    tone.start()
    tone.stop(audio.currentTime + 0.2)
  } catch {
    // Audio is unavailable or not allowed.
  }
}
