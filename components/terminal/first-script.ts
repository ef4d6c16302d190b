/**
 * Stands in the page itself, before all else of one that begins with its terminal; built by itself as the script of
 * terminals is, which finds here what was begun for it.
 */
import { storedPreference, themeOf } from '#lib/console/frame/preferences.ts'
import { askForShell, type EarlyShell } from './early-shell.ts'

declare global {
  interface Window {
    /** The shell this page was opened for. */
    earlyShell?: EarlyShell
    /** Lets React begin with a page that was held back for its terminal; there where it was. */
    bringToLife?(): void
  }
}

/** The terminal comes first, but a page does not wait for one that does not come. */
const heldForMs = 1000
/** What is drawn without the terminal is drawn twice. */
const unseenForMs = 250

/** The rest of the page may be long in coming: what is empty until then is not to be white in the dark. */
const showTheme = () => {
  const meta = document.createElement('meta')
  meta.name = 'color-scheme'
  meta.content = { system: 'light dark', light: 'light', dark: 'dark' }[themeOf(storedPreference('theme'))]
  document.head.append(meta)
}

showTheme()
window.earlyShell = askForShell()
window.bringToLife = () => {
  for (const held of document.querySelectorAll<HTMLLinkElement>('link[rel="held"]')) held.rel = 'preload'
  for (const held of document.querySelectorAll('script[type="text/held"]')) {
    // A script that was inserted as held never runs; a copy of it does.
    const script = document.createElement('script')
    script.async = true
    script.src = held.getAttribute('src') ?? ''
    held.replaceWith(script)
  }
}
setTimeout(() => document.querySelector('script[blocking]')?.removeAttribute('blocking'), unseenForMs)
addEventListener('DOMContentLoaded', () => setTimeout(() => window.bringToLife?.(), heldForMs))
