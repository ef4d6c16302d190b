'use client'
import { useEffect, useState } from 'react'

/** Copies text; `result` says for two seconds how that went. */
export const useCopy = () => {
  const [result, setResult] = useState<'copied' | 'refused' | null>(null)
  useEffect(() => {
    if (!result) return
    const timer = setTimeout(() => setResult(null), 2000)
    return () => clearTimeout(timer)
  }, [result])
  const copy = async (text: string) => setResult((await writeClipboard(text)) ? 'copied' : 'refused')
  return { result, copy }
}

/** Whether the browser let it. */
export const writeClipboard = async (text: string): Promise<boolean> => {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    // Not a secure context (plain http on another host), or not allowed: the older way works in both.
    const before = document.activeElement
    const area = document.createElement('textarea')
    area.value = text
    area.style.position = 'fixed'
    // Inside an open dialog the focus trap takes the selection away from anything outside it.
    const host = document.querySelector('[role=dialog]') ?? document.body
    host.append(area)
    area.select()
    const copied = document.execCommand('copy')
    area.remove()
    if (before instanceof HTMLElement) before.focus({ preventScroll: true })
    return copied
  }
}
