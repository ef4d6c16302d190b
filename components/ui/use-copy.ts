'use client'
import { useEffect, useState } from 'react'

/** `result` is set for two seconds after a copy; screen readers hear "Copied" and `what`. */
export const useCopy = (what: string) => {
  const [result, setResult] = useState<'copied' | 'refused' | null>(null)
  useEffect(() => {
    if (!result) return
    const timer = setTimeout(() => setResult(null), 2000)
    return () => clearTimeout(timer)
  }, [result])
  const copy = async (text: string) => {
    const isCopied = await writeClipboard(text)
    setResult(isCopied ? 'copied' : 'refused')
    announce(isCopied ? `Copied ${what}` : "Couldn't copy: the browser denied access to the clipboard")
  }
  return { result, copy }
}

let region: HTMLElement | undefined

/** One live region for all copy buttons. */
const announce = (text: string) => {
  if (!region) {
    region = document.createElement('p')
    region.role = 'status'
    // Dialogs set aria-hidden on everything outside except aria-live regions.
    region.ariaLive = 'polite'
    region.className = 'sr-only'
    document.body.append(region)
  }
  region.textContent = ''
  // Screen readers announce changes, so the region must exist first.
  setTimeout(() => region?.replaceChildren(text), 100)
}

export const writeClipboard = async (text: string): Promise<boolean> => {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    // The Clipboard API needs a secure context and permission; execCommand works without.
    const before = document.activeElement
    const area = document.createElement('textarea')
    area.value = text
    area.style.position = 'fixed'
    // A dialog's focus trap would take the selection from anything outside.
    const host = document.querySelector('[role=dialog]') ?? document.body
    host.append(area)
    area.select()
    const copied = document.execCommand('copy')
    area.remove()
    if (before instanceof HTMLElement) before.focus({ preventScroll: true })
    return copied
  }
}
