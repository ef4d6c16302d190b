export const Keys = ({ keys }: { keys: readonly string[] }) => (
  <span className="inline-flex gap-1">
    {keys.map((key) => (
      <kbd
        key={key}
        className="inline-flex h-5 min-w-5 items-center justify-center rounded-sm border border-line bg-surface-1 px-1 font-sans text-xs text-muted"
      >
        {key}
      </kbd>
    ))}
  </span>
)
