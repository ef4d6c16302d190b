# Runs a command or a terminal and keeps its output until the service has stored it, so that both outlive the service.
#   hold command ID stdin|none ARGV...    hold terminal ID COLUMNS ROWS ARGV...    hold attach ID
# Speaks in frames of a type, three zero bytes, a length and the content: first over its standard streams, and after
# `attach` over a socket. hold.ts lists the types.
use strict;

my ($kind, $id, @argv) = @ARGV;
my $socket = "/run/devdeck/hold-$id";
my $address = pack 'Sa*x', 1, $socket;
my $piece = 1 << 16;

if ($kind eq 'attach') {
  socket my $holder, 1, 1, 0;
  connect $holder, $address or exit 1;
  my $copy = sub {
    my ($from, $to) = @_;
    while (sysread $from, my $bytes, $piece) {
      for (my $at = 0; $at < length $bytes;) { $at += syswrite($to, $bytes, $piece, $at) || exit }
    }
  };
  if (my $child = fork) { $copy->($holder, \*STDOUT); kill 'KILL', $child }
  else { $copy->(\*STDIN, $holder); shutdown $holder, 1 }
  exit;
}

# perl would have read the devbox's own variables.
for (keys %ENV) { $ENV{$1} = delete $ENV{$_} if /^DEVDECK_(PERL.*)/ }
umask 022;
my @ignored = qw(HUP INT QUIT USR1 USR2 ALRM TERM TSTP TTIN TTOU PIPE);
$SIG{$_} = 'IGNORE' for @ignored;
# Interrupts `select`.
$SIG{CHLD} = sub { };

my $is_terminal = $kind eq 'terminal';
# A terminal keeps its latest output. A command with this much unstored output waits.
my $kept = $is_terminal ? 1 << 20 : 4 << 20;
my ($child, $input, @streams, $size);
if ($is_terminal) {
  require POSIX;
  # O_RDWR | O_NOCTTY, TIOCSPTLCK, TIOCGPTN, TIOCSCTTY
  my $number = pack 'i', 0;
  sysopen($input, '/dev/ptmx', 0402) && ioctl($input, 0x40045431, $number) && ioctl($input, 0x80045430, $number)
    or die "No terminal: $!\n";
  resize(splice @argv, 0, 2);
  sysopen my $terminal, '/dev/pts/' . unpack('i', $number), 0402 or die "No terminal: $!\n";
  $child = start(sub { POSIX::setsid(); ioctl $terminal, 0x540e, 0; ($terminal) x 3 });
  @streams = ({ handle => $input });
} else {
  my $has_input = shift(@argv) eq 'stdin';
  my $null;
  if ($has_input) { pipe $null, $input } else { open $null, '<', '/dev/null' }
  pipe my $output, my $own_output;
  pipe my $errors, my $own_errors;
  $child = start(sub { setpgrp; ($null, $own_output, $own_errors) });
  setpgrp $child, $child;
  @streams = ({ handle => $output }, { handle => $errors });
}

for (0 .. $#streams) { %{$streams[$_]} = (%{$streams[$_]}, type => $_ + 1, bytes => '', start => 0, sent => 0, end => 0) }
my ($from, $to) = (\*STDIN, \*STDOUT);
# F_SETFL, O_NONBLOCK
fcntl $_, 4, 2048 for $to, $input || (), map { $_->{handle} } @streams;
unlink $socket;
socket my $listener, 1, 1, 0;
bind $listener, $address;
listen $listener, 1;

my ($read, $unsent, $pending) = ('', '', '');
my ($received, $reported, $left_over, $ends_input) = (0, 0, 2 << 20, 0);
my ($status, $kills, $is_settled, $is_reported, $is_released);
greet();

until ($is_released) {
  fill() if $to;
  my $readable = my $writable = '';
  vec($readable, fileno $_, 1) = 1 for $listener, $from || (), map { $_->{handle} } grep { has_room($_) } @streams;
  vec($writable, fileno $to, 1) = 1 if length $unsent;
  vec($writable, fileno $input, 1) = 1 if $input && length $pending;
  # A signal right before `select` is noticed late, often by the exit that ended the streams. After it, output of others
  # may follow forever.
  my $is_running = grep { !$_->{has_ended} && !$_->{is_hung} } @streams;
  my $seconds = defined $status ? $is_settled ? undef : 0.02 : $is_running ? 0.2 : 0.02;
  my $found = select $readable, $writable, undef, $seconds;
  if (!defined $status && waitpid($child, 1) > 0) {
    $status = $?;
    $kills = read_kills();
  } elsif (defined $status && !$is_settled && ($found == 0 || $left_over <= 0)) {
    settle();
  }
  delete $_->{is_hung} for @streams;
  next if $found <= 0;
  for (grep { vec $readable, fileno $_->{handle}, 1 } grep { !$_->{has_ended} } @streams) { take($_) }
  settle() if defined $status && !$is_settled && !grep { !$_->{has_ended} } @streams;
  write_input() if $input && vec $writable, fileno $input, 1;
  send_output() if $to && vec $writable, fileno $to, 1;
  receive() if $from && vec $readable, fileno $from, 1;
  if (vec $readable, fileno $listener, 1) {
    accept(my $service, $listener);
    fcntl $service, 4, 2048;
    ($from, $to, $read, $unsent) = ($service, undef, '', '');
  }
}

unlink $socket;
kill 'KILL', -$child unless defined $status;
exit if $is_terminal;
# Background processes would die writing to a closed pipe.
close STDIN;
close STDOUT;
while (my @open = grep { !$_->{has_ended} } @streams) {
  my $readable = '';
  vec($readable, fileno $_->{handle}, 1) = 1 for @open;
  next if select($readable, undef, undef, undef) <= 0;
  for (grep { vec $readable, fileno $_->{handle}, 1 } @open) {
    $_->{has_ended} = 1 unless sysread($_->{handle}, my $discarded, $piece) || $!{EAGAIN};
  }
}

sub start {
  my ($prepare) = @_;
  my $pid = fork // die "$!\n";
  return $pid if $pid;
  $SIG{$_} = 'DEFAULT' for @ignored, 'CHLD';
  my ($in, $out, $errors) = $prepare->();
  open STDIN, '<&', $in;
  open STDOUT, '>&', $out;
  open STDERR, '>&', $errors;
  exec { $argv[0] } @argv;
  print STDERR "$argv[0]: $!\n";
  exit 127;
}

sub resize {
  my ($columns, $rows) = @_;
  $size = "$columns $rows";
  # TIOCSWINSZ
  ioctl $input, 0x5414, pack 'S4', $rows, $columns, 0, 0;
}

sub has_room {
  my ($stream) = @_;
  return 0 if $stream->{has_ended} || $stream->{is_hung};
  return 1 if defined $status && !$is_settled;
  return !$to || $stream->{end} - $stream->{sent} < $piece if $is_terminal;
  return length $stream->{bytes} < $kept;
}

sub take {
  my ($stream) = @_;
  my $count = sysread($stream->{handle}, my $bytes, $piece);
  if ($count) {
    $left_over -= $count if defined $status;
    $stream->{end} += $count;
    $stream->{bytes} .= $bytes;
    drop($stream, $stream->{end} - $kept) if $is_terminal && length $stream->{bytes} > $kept + $piece;
  } elsif (defined $count || !$!{EAGAIN}) {
    # Another process may open the terminal again.
    $stream->{$is_terminal && !defined $status ? 'is_hung' : 'has_ended'} = 1;
  }
}

sub drop {
  my ($stream, $to_offset) = @_;
  my $count = $to_offset - $stream->{start};
  return if $count <= 0 || $to_offset > $stream->{end};
  substr $stream->{bytes}, 0, $count, '';
  $stream->{start} = $to_offset;
  $stream->{sent} = $to_offset if $stream->{sent} < $to_offset;
}

sub settle {
  $is_settled = 1;
  $_->{own} = $_->{end} for @streams;
}

sub frame { my ($type, $content) = @_; $unsent .= pack('CxxxN', $type, length $content) . $content }

sub greet {
  my @from = @_;
  for (@streams) {
    my $wanted = shift @from // 0;
    $_->{sent} = $wanted < $_->{start} ? $_->{start} : $wanted > $_->{end} ? $_->{end} : $wanted;
    $_->{is_reported} = 0;
  }
  $is_reported = 0;
  $reported = $received - length $pending;
  frame(3, join ' ', $child, $received, $size || '0 0', map { $_->{sent}, $_->{end} } @streams);
}

sub fill {
  while (length $unsent < $piece) {
    my @unsent = grep { $_->{sent} < $_->{end} } @streams or last;
    for (@unsent) {
      my $bytes = substr $_->{bytes}, $_->{sent} - $_->{start}, $piece / 2;
      frame($_->{type}, $bytes);
      $_->{sent} += length $bytes;
    }
  }
  for (grep { $_->{has_ended} && !$_->{is_reported} && $_->{sent} == $_->{end} } @streams) {
    $_->{is_reported} = 1;
    frame(6, $_->{type});
  }
  if ($is_settled && !$is_reported && !grep { $_->{sent} < $_->{own} } @streams) {
    $is_reported = 1;
    frame(5, join ' ', $status >> 8, $status & 127, $kills);
  }
  my $consumed = $received - length $pending;
  if ($consumed - $reported >= $piece / 4) {
    $reported = $consumed;
    frame(4, $consumed);
  }
}

sub send_output {
  my $count = syswrite $to, $unsent, $piece;
  if ($count) { substr $unsent, 0, $count, '' }
  elsif (!$!{EAGAIN}) { detach() }
}

sub detach { ($from, $to, $read, $unsent) = (undef, undef, '', '') }

sub write_input {
  my $count = syswrite $input, $pending, $piece;
  if ($count) { substr $pending, 0, $count, '' }
  elsif (!$!{EAGAIN}) { ($pending, $ends_input) = ('', 1) }
  end_input();
}

sub end_input {
  return if !$ends_input || $is_terminal || !$input || length $pending;
  close $input;
  undef $input;
}

sub receive {
  my $count = sysread $from, $read, $piece, length $read;
  return if !defined $count && $!{EAGAIN};
  return detach() unless $count;
  while (length $read >= 8) {
    my ($type, $length) = unpack 'CxxxN', $read;
    last if length $read < 8 + $length;
    my $content = substr substr($read, 0, 8 + $length, ''), 8;
    if ($type == 1) {
      $received += $length;
      $pending .= $content if $input;
    } elsif ($type == 2) { $ends_input = 1; end_input() }
    elsif ($type == 3) { my @stored = split ' ', $content; drop($_, shift @stored) for @streams }
    elsif ($type == 4) { resize(split ' ', $content) }
    elsif ($type == 5) { $is_released = 1 }
    elsif ($type == 6) { $to = $from; greet(split ' ', $content) }
  }
}

sub read_kills {
  for my $file ('/sys/fs/cgroup/memory.events', '/sys/fs/cgroup/memory/memory.oom_control') {
    open my $counts, '<', $file or next;
    for (<$counts>) { return $1 if /^oom_kill (\d+)/ }
  }
  return 0;
}
