interface WrapToggleProps {
  wraps: boolean
  onWrap: (wraps: boolean) => void
}

/** Whether long lines go on in the next row or are scrolled to. */
export const WrapToggle = ({ wraps, onWrap }: WrapToggleProps) => (
  <label className="inline-flex min-h-6 cursor-pointer items-center gap-1.5 text-sm">
    <input
      type="checkbox"
      className="size-4 accent-(--accent-solid)"
      checked={wraps}
      onChange={({ target }) => onWrap(target.checked)}
    />
    Wrap lines
  </label>
)
