import type { ITheme } from '@xterm/xterm'

/** The tokens of the page, as they are within `element`, as an xterm theme. */
export const terminalTheme = (element: HTMLElement = document.body): ITheme => withColours(element, themeOf)

/** xterm reads no `light-dark()` and blends in sRGB, so each token becomes hex. */
export const withColours = <T>(element: HTMLElement, read: (colour: Colour) => T): T => {
  const probe = document.createElement('span')
  probe.hidden = true
  const canvas = document.createElement('canvas')
  canvas.width = 1
  canvas.height = 1
  const context = canvas.getContext('2d', { willReadFrequently: true })
  element.append(probe)
  const result = read((token) => {
    probe.style.color = `var(${token})`
    if (!context) return undefined
    context.fillStyle = getComputedStyle(probe).color
    context.fillRect(0, 0, 1, 1)
    const [red = 0, green = 0, blue = 0] = context.getImageData(0, 0, 1, 1).data
    return `#${[red, green, blue].map((part) => part.toString(16).padStart(2, '0')).join('')}`
  })
  probe.remove()
  return result
}

type Colour = (token: string) => string | undefined

const themeOf = (colour: Colour): ITheme => {
  const selection = colour('--accent')
  return {
    background: colour('--surface-0'),
    foreground: colour('--text'),
    cursor: colour('--text'),
    cursorAccent: colour('--surface-0'),
    selectionBackground: selection && `${selection}59`,
    selectionInactiveBackground: selection && `${selection}33`,
    scrollbarSliderBackground: `${colour('--text-muted')}40`,
    scrollbarSliderHoverBackground: `${colour('--text-muted')}80`,
    scrollbarSliderActiveBackground: `${colour('--text-muted')}a0`,
    ...Object.fromEntries(
      ansi.flatMap((name) => [
        [name, colour(`--terminal-${name}`)],
        [`bright${name.charAt(0).toUpperCase()}${name.slice(1)}`, colour(`--terminal-bright-${name}`)],
      ]),
    ),
  }
}

const ansi = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white']

/** Calls `changed` whenever the page's theme is another one, by its own switch or by the system's. */
export const onThemeChange = (changed: () => void): (() => void) => {
  const observer = new MutationObserver(changed)
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] })
  const system = matchMedia('(prefers-color-scheme: dark)')
  system.addEventListener('change', changed)
  return () => {
    observer.disconnect()
    system.removeEventListener('change', changed)
  }
}
