UPDATE orders SET deadline_at = now(),
  deadline_runs = 0;
