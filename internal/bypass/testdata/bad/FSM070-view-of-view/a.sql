UPDATE w SET status = 'PAID';
