UPDATE doors SET;
