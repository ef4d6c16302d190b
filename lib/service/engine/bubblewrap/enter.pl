# Runs a command in the namespaces of a devbox, as its user, under its filter of system calls.
#
# One program instead of nsenter, setsid and two shells: each of those costs a millisecond for every command, and none
# can put a filter in force. It must be in force before the devbox can see the process, which is from the fork on.
my ($numbers, $filter, $user, $rights, $through, $init, $kinds, $tty, @command) = @ARGV;
my %call;
@call{qw(setns unshare mount prctl setgroups setresgid setresuid setsid seccomp prlimit64 close)} = map { $_ + 0 } split /,/, $numbers;

sub fail { print STDERR "devdeck: $_[0]: $!\n"; exit 126 }
sub ask { my ($name, @arguments) = @_; syscall($call{$name}, @arguments) != -1 or fail($name) }
sub opened { my ($pid, $kind) = @_; open(my $file, '<', "/proc/$pid/ns/$kind") or fail("the devbox's $kind namespace"); $file }

# What `spawnIn` has a shell do for other programs: how many files to keep, then cgroups and limits, one a line.
my ($kept, @limits) = split /\n/, delete $ENV{DEVDECK_LAUNCH};
opendir(my $descriptors, '/proc/self/fd') or fail('/proc/self/fd');
my @surplus = grep { /^\d+$/ && $_ >= $kept && $_ != fileno($descriptors) } readdir($descriptors);
closedir($descriptors);
syscall($call{close}, $_ + 0) for @surplus;
umask(022);
for my $limit (@limits) {
  if ($limit =~ /^-(\w) (\d+)$/) {
    my ($resource, $unit) = @{{f => [1, 1024], d => [2, 1024], u => [6, 1]}->{$1}};
    # A lower one that is in force already stays.
    syscall($call{prlimit64}, 0, $resource, pack('QQ', ($2 * $unit) x 2), 0);
  } else {
    open(my $file, '>', $limit) or fail($limit);
    syswrite($file, '0') or fail($limit);
  }
}
# When the machine's memory is used up, the kernel is to kill a devbox rather than the service.
if (open(my $score, '>', '/proc/self/oom_score_adj')) { syswrite($score, '500') }

# Without privileges only the owner of a user namespace may join what belongs to it, as its root.
ask('setns', fileno(opened($through, 'user')), 0) if $through ne '';
# No group of the service's goes along. An ordinary user may not give up those it has.
ask('setgroups', 0, 0) if $user ne '';
# All opened first: with the mounts /proc becomes the devbox's.
ask('setns', fileno($_), 0) for map { opened($init, $_) } split /,/, $kinds;
# PR_CAPBSET_DROP: root of a devbox has these rights and no other. A number the kernel does not know is refused.
if ($rights ne '') {
  my %kept = map { $_ => 1 } split /,/, $rights;
  for my $right (0 .. 63) { syscall($call{prctl}, 24, $right, 0, 0, 0) unless $kept{$right} }
}
if ($user ne '') {
  ask('setresgid', ($user + 0) x 3);
  ask('setresuid', ($user + 0) x 3);
}
# PR_SET_NO_NEW_PRIVS, then SECCOMP_SET_MODE_FILTER with SECCOMP_FILTER_FLAG_SPEC_ALLOW: without it some kernels take
# speculation from the process as well, and every command twice its time.
ask('prctl', 38, 1, 0, 0, 0);
my $program = pack('H*', $filter);
ask('seccomp', 1, 4, pack('Sx6P', length($program) / 8, $program)) if $program ne '';

# The fork alone enters the process namespace.
defined(my $child = fork) or fail('fork');
if ($child == 0) {
  # In a session of its own the command has a session number inside as well, and may take a terminal.
  ask('setsid');
  if ($tty ne '') {
    # The leader of a session gets a terminal by opening it.
    sysopen(my $terminal, $tty, 2) or fail($tty);
    open(STDIN, '<&', $terminal) and open(STDOUT, '>&', $terminal) and open(STDERR, '>&', $terminal) or fail($tty);
  }
  # The devbox's variables came under other names: LD_PRELOAD would have taken effect outside.
  for my $name (grep { /^DEVDECK_SET_/ } keys %ENV) { $ENV{substr($name, 12)} = delete $ENV{$name} }
  chdir($ENV{HOME});
  exec { $command[0] } @command;
  # By number, ENOENT's: for its name perl reads three modules, at every command.
  my $isMissing = $! == 2;
  print STDERR "devdeck: $command[0]: $!\n";
  exit($isMissing ? 127 : 126);
}
# A command that stops has this process stop as well, and go on with it.
while (waitpid($child, 2) == $child && ($? & 0xff) == 0x7f) { kill('STOP', $$); kill('CONT', $child) }
my $signal = $? & 0x7f;
kill($signal, $$) if $signal;
exit($signal ? 128 + $signal : $? >> 8);
