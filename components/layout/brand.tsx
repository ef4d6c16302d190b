export const Mark = ({ className }: { className?: string }) => (
  <svg viewBox="0 0 32 32" aria-hidden="true" className={className}>
    <rect width="32" height="32" rx="8" className="fill-accent-solid" />
    <g className="stroke-on-accent" fill="none" strokeWidth="2.75" strokeLinecap="round" strokeLinejoin="round">
      <path d="M8 11.5 12.5 16 8 20.5" />
      <path d="M16 20.5h8M16 11.5h8M20 16h4" />
    </g>
  </svg>
)
