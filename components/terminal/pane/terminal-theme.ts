import type { ITheme } from '@xterm/xterm'
import { onMediaChange } from '#lib/browser/frame/use-media.ts'

const ansi = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const
const tokens = [
  '--surface-0',
  '--text',
  '--text-muted',
  '--accent',
  ...ansi.flatMap((name) => [`--terminal-${name}`, `--terminal-bright-${name}`] as const),
] as const

/** xterm theme from the page's design tokens within `element`. */
export const terminalTheme = (element: HTMLElement = document.body): ITheme => {
  const color = colorsOf(element, tokens)
  return {
    background: color['--surface-0'],
    foreground: color['--text'],
    cursor: color['--text'],
    cursorAccent: color['--surface-0'],
    selectionBackground: `${color['--accent']}59`,
    selectionInactiveBackground: `${color['--accent']}33`,
    scrollbarSliderBackground: `${color['--text-muted']}40`,
    scrollbarSliderHoverBackground: `${color['--text-muted']}80`,
    scrollbarSliderActiveBackground: `${color['--text-muted']}a0`,
    ...Object.fromEntries(
      ansi.flatMap((name) => [
        [name, color[`--terminal-${name}`]],
        [`bright${name.charAt(0).toUpperCase()}${name.slice(1)}`, color[`--terminal-bright-${name}`]],
      ]),
    ),
  }
}

/** Hex colors, because xterm can't parse `light-dark()`. All at once: each read recalculates styles. */
export const colorsOf = <T extends string>(element: HTMLElement, tokens: readonly T[]): Record<T, string> => {
  const probes = document.createElement('span')
  probes.hidden = true
  for (const token of tokens)
    probes.appendChild(document.createElement('span')).style.color = `color-mix(in srgb, var(${token}), var(${token}))`
  element.append(probes)
  const found = [...probes.children].map((probe, i) => [tokens[i], toHex(getComputedStyle(probe).color)])
  probes.remove()
  return Object.fromEntries(found)
}

/** Parses `color(srgb 0.1 0.2 0.3)`; components may exceed 0 to 1 for out-of-gamut colors. */
const toHex = (color: string): string => {
  const parts = color.slice(color.indexOf('srgb') + 4).match(/-?[\d.]+(?:e-?\d+)?/g) ?? []
  const bytes = [0, 1, 2].map((i) => Math.round(Math.min(1, Math.max(0, Number(parts[i] ?? 0))) * 255))
  return `#${bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

/** Calls `changed` when the theme changes, by switch or by the system. */
export const onThemeChange = (changed: () => void): (() => void) => {
  const observer = new MutationObserver(changed)
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] })
  const forgetSystem = onMediaChange('(prefers-color-scheme: dark)', changed)
  return () => {
    observer.disconnect()
    forgetSystem()
  }
}
