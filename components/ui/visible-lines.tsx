import { cutEnd } from './text.ts'
import { VisibleText } from './visible-text.tsx'

/** Text of several lines from outside, as `VisibleText` is of one; place it where white space is kept. */
export const VisibleLines = ({ children, max }: { children: string; max: number }) =>
  cutEnd(children, max)
    .split(/\r?\n/)
    .map((line, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: a line is its number
      <span key={index} className="block min-h-[1lh]">
        {line !== '' && <VisibleText>{line}</VisibleText>}
      </span>
    ))
