import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

type Oklch = [lightness: number, chroma: number, hue: number]
const css = readFileSync(join(import.meta.dirname, '../../app/globals.css'), 'utf8')
const parts = (text: string) => text.trim().split(/\s+/).map(Number) as Oklch
const tokens: Record<string, { light: Oklch; dark: Oklch }> = {}
for (const [, name = '', light, dark, both] of css.matchAll(
  /--([\w-]+): (?:light-dark\(oklch\(([^)/]+)\), oklch\(([^)/]+)\)\)|oklch\(([^)/]+)\));/g,
))
  tokens[name] = { light: parts(both ?? light ?? ''), dark: parts(both ?? dark ?? '') }

const token = (name: string) => {
  const found = tokens[name]
  if (!found) throw new Error(`globals.css has no color --${name} in the form this test reads`)
  return found
}

/** Linear sRGB of an OKLCH color, after Ottosson's definition of Oklab. */
const linear = ([lightness, chroma, hue]: Oklch) => {
  const a = chroma * Math.cos((hue * Math.PI) / 180)
  const b = chroma * Math.sin((hue * Math.PI) / 180)
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ]
}
const luminance = (color: Oklch) => {
  const [r = 0, g = 0, b = 0] = linear(color).map((channel) => Math.min(1, Math.max(0, channel)))
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}
const contrast = (a: Oklch, b: Oklch) => {
  const [high = 0, low = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x)
  return (high + 0.05) / (low + 0.05)
}

const below = (names: readonly string[], grounds: readonly string[], minimum: number) =>
  names.flatMap((name) =>
    grounds.flatMap((ground) =>
      (['light', 'dark'] as const).flatMap((theme) => {
        const ratio = contrast(token(name)[theme], token(ground)[theme])
        return ratio < minimum ? [`${name} on ${ground}, ${theme}: ${ratio.toFixed(2)}`] : []
      }),
    ),
  )

const surfaces = ['surface-0', 'surface-1', 'surface-2', 'overlay']
const tones = ['ok', 'progress', 'attention', 'danger', 'neutral']

describe('color tokens (WCAG 2.2, 1.4.3 and 1.4.11)', () => {
  it.each([
    ['text', 4.5, ['text', 'text-muted'], [...surfaces, 'surface-3', ...tones.map((tone) => `${tone}-bg`)]],
    ['links', 4.5, ['accent'], [...surfaces, 'accent-soft']],
    ['scores', 4.5, ['text'], ['score-low', 'score-high']],
    ['buttons', 4.5, ['on-accent'], ['accent-solid', 'accent-solid-hover', 'danger-solid', 'danger-solid-hover']],
    ['borders', 3, ['line-strong'], ['surface-0', 'surface-1', 'overlay']],
    ['the focus ring', 3, ['focus'], surfaces],
    ...tones.map((tone) => [tone, 4.5, [tone], [...surfaces, `${tone}-bg`]] as const),
  ] as const)('%s have a contrast of %d:1 in both themes', (_, minimum, names, grounds) => {
    expect(below(names, grounds, minimum)).toEqual([])
  })

  it('colors are within sRGB, so that every screen shows the measured color', () => {
    const outside = Object.entries(tokens).filter(([, { light, dark }]) =>
      [...linear(light), ...linear(dark)].some((channel) => channel < -0.001 || channel > 1.001),
    )
    expect(outside.map(([name]) => name)).toEqual([])
  })
})
