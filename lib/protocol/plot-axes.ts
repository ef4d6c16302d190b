/** Round axis ends that include 0 and all values. */
export const axisFor = (values: readonly number[]): { low: number; high: number } => {
  const low = values.reduce((least, value) => Math.min(least, value), 0)
  const high = values.reduce((most, value) => Math.max(most, value), 0)
  return { low: 0 - roundUp(-low), high: roundUp(high) || (low < 0 ? 0 : 1) }
}

export const roundUp = (value: number): number => {
  if (value <= 0) return 0
  const power = 10 ** Math.floor(Math.log10(value))
  const step = [1, 2, 5, 10].find((each) => each * power >= value) ?? 10
  return Number((step * power).toPrecision(1))
}

export interface CostAxis {
  isLog: boolean
  low: number
  high: number
  ticks: readonly number[]
}

/** Spread of the values from which the axis is logarithmic. */
const maxLinearSpread = 20

/** Axis for the means; `ends` are those of their intervals, which don't widen a logarithmic axis below the means. */
export const costAxis = (means: readonly number[], ends: readonly number[]): CostAxis => {
  const [least, most] = [Math.min(...means), Math.max(...means, ...ends)]
  if (least > 0 && Math.max(...means) / least > maxLinearSpread) {
    const [from, to] = [Math.floor(Math.log10(least)), Math.ceil(Math.log10(most))]
    return { isLog: true, low: 10 ** from, high: 10 ** to, ticks: powers(from, to) }
  }
  const step = roundStep((most || 1) / 4)
  const count = Math.max(1, Math.ceil((most || 1) / step - 1e-9))
  return {
    isLog: false,
    low: 0,
    high: count * step,
    ticks: Array.from({ length: count + 1 }, (_, i) => Number((i * step).toPrecision(6))),
  }
}

const powers = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, i) => 10 ** (from + i))

const roundStep = (value: number): number => {
  const power = 10 ** Math.floor(Math.log10(value))
  return ([1, 2, 2.5, 5, 10].find((each) => each * power >= value) ?? 10) * power
}

/** Place of a value on the axis, from 0 to 1. */
export const placeOn = ({ isLog, low, high }: CostAxis, value: number): number => {
  const clamped = Math.min(high, Math.max(low, value))
  return isLog ? Math.log(clamped / low) / Math.log(high / low) : (clamped - low) / (high - low)
}
