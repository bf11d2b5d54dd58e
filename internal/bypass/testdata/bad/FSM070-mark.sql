UPDATE orders SET status = 1;
