'use client'
import { useEffect, useState } from 'react'

/** Copies text, told to screen readers as `what`; `result` says for two seconds how that went. */
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
    announce(isCopied ? `Copied ${what}` : 'The browser refused to copy')
  }
  return { result, copy }
}

let region: HTMLElement | undefined

/** One live region for all buttons of the page: a table has one in each row. */
const announce = (text: string) => {
  if (!region) {
    region = document.createElement('p')
    region.role = 'status'
    // Dialogs hide what is outside of them from assistive technology, but nothing with this attribute.
    region.ariaLive = 'polite'
    region.className = 'sr-only'
    document.body.append(region)
  }
  region.textContent = ''
  // A region is read out when it changes, so it has to stand there first.
  setTimeout(() => region?.replaceChildren(text), 100)
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
